//! Things that change, or that say when they are made and dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use befrost_kernel_api::context::{Output, Resource};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Attr, Site, StrAttr};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.atomic.create.i32", || Atomic(AtomicI32::new(0))));
    // Relaxed: what orders the accesses to a counter is its chains.
    registry.add(kernel!("tfrt_test.atomic.inc.i32", |counter: &Atomic| {
        counter.0.fetch_add(1, Ordering::Relaxed);
        Chain
    }));
    registry.add(kernel!("tfrt_test.atomic.add.i32", |counter: &Atomic, n: i32| {
        counter.0.fetch_add(n, Ordering::Relaxed);
        Chain
    }));
    registry.add(kernel!("tfrt_test.atomic.get.i32", |counter: &Atomic| {
        (counter.0.load(Ordering::Relaxed), Chain)
    }));
    registry.add(kernel!("tfrt_test.allocate_resource", |_: Chain, cx: &ExecContext| {
        Loud::new(cx, "Allocated TestResource", "Destroyed TestResource")
            .map(|loud| (TestResource(Mutex::new(Some(loud))), Chain))
    }));
    registry.add(kernel!(
        "tfrt_test.deallocate_resource",
        |it: &TestResource, _: Chain, cx: &ExecContext| {
            drop(it.0.lock().unwrap_or_else(PoisonError::into_inner).take());
            cx.print("tfrt_test.deallocate_resource done\n").map(|()| Chain)
        }
    ));
    registry.add(kernel!("tfrt_test.memory_leak_one_int32", |cx: &ExecContext| {
        let leaked = cx
            .allocator()
            .allocate(4, 4)
            .map_err(|error| KernelError::new(ErrorCode::ResourceExhausted, error.to_string()))?;
        std::mem::forget(leaked);
        Ok::<_, KernelError>(())
    }));
    registry.add(kernel!("tfrt_test.unique_loc", |name: StrAttr<'_>, site: Site, cx: &ExecContext| {
        let known = cx.request.resources.or_insert_with(&"tfrt_test.unique_loc".into(), Locations::default);
        // One that is not known is no other kernel's.
        site.location().map_or(Ok(Chain), |location| known.check(location, name.0).map(|()| Chain))
    }));
    registry.add(kernel!("vt.constant", |value: Attr<i32>, cx: &ExecContext| Vt::new(cx, value.0)));
    registry.add(kernel!("vt.add", |a: &Vt, b: &Vt, cx: &ExecContext| {
        Vt::new(cx, a.value.wrapping_add(b.value))
    }));
    registry.add(kernel!("vt.print", |value: &Vt, cx: &ExecContext| {
        cx.print(&format!("print vt_value({})\n", value.value)).map(|()| Chain)
    }));
    registry.add(kernel!("tfrt_test.share_to_two", |value: &Vt| (value.clone(), value.clone())));
    registry.add(kernel!("tfrt_tutorial.create_coordinate", |x: i32, y: i32| Coordinate { x, y }));
    registry.add(kernel!("tfrt_tutorial.print_coordinate", |at: &Coordinate, cx: &ExecContext| {
        cx.print(&format!("({}, {})\n", at.x, at.y)).map(|()| Chain)
    }));
}

/// A `!test.atomic.i32`.
#[derive(Debug)]
struct Atomic(AtomicI32);

impl Object for Atomic {
    const TYPES: &'static [&'static str] = &["!test.atomic.i32"];

    fn display(&self) -> String {
        self.0.load(Ordering::Relaxed).to_string()
    }
}

/// Says when it is made and when it is dropped.
struct Loud {
    output: Arc<dyn Output>,
    last_words: String,
}

impl Loud {
    fn new(cx: &ExecContext, made: &str, dropped: &str) -> Result<Loud, KernelError> {
        cx.print(&format!("{made}\n"))?;
        Ok(Loud { output: cx.request.output.clone(), last_words: format!("{dropped}\n") })
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        // Nobody is left who could be told that the output is gone.
        _ = self.output.write(&self.last_words);
    }
}

impl fmt::Debug for Loud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loud")
    }
}

/// A `!tfrt.test.resource`, until it is deallocated.
#[derive(Debug)]
struct TestResource(Mutex<Option<Loud>>);

impl Object for TestResource {
    const TYPES: &'static [&'static str] = &["!tfrt.test.resource"];

    fn display(&self) -> String {
        "TestResource".into()
    }
}

/// A `!vt.value`. Copies share it.
#[derive(Clone, Debug)]
struct Vt {
    value: i32,
    _loud: Arc<Loud>,
}

impl Vt {
    /// Made, and moved to where it is held.
    fn new(cx: &ExecContext, value: i32) -> Result<Vt, KernelError> {
        let made = format!("constructed vt.value({value})\nmove constructed vt.value({value})");
        let loud = Loud::new(cx, &made, &format!("destroyed vt.value({value})"))?;
        Ok(Vt { value, _loud: Arc::new(loud) })
    }
}

impl Object for Vt {
    const TYPES: &'static [&'static str] = &["!vt.value"];

    fn display(&self) -> String {
        format!("vt_value({})", self.value)
    }
}

/// A `!my.coordinate`.
#[derive(Debug)]
struct Coordinate {
    x: i32,
    y: i32,
}

impl Object for Coordinate {
    const TYPES: &'static [&'static str] = &["!my.coordinate"];

    fn display(&self) -> String {
        format!("({}, {})", self.x, self.y)
    }
}

/// Which name was used at which location.
#[derive(Default)]
struct Locations(Mutex<BTreeMap<String, String>>);

impl Resource for Locations {
    const TYPE: &'static str = "locations";
}

impl Locations {
    fn check(&self, location: String, name: &str) -> Result<(), KernelError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = known.entry(location).or_insert_with(|| name.to_owned());
        if first == name {
            return Ok(());
        }
        Err(KernelError::invalid(format!("'{first}' and '{name}' have one location")))
    }
}
