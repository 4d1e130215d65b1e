//! Mutable objects, and objects that print when they are created and dropped.

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
    // Relaxed: chains order the accesses to a counter.
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
        LifetimeLog::new(cx, "Allocated TestResource", "Destroyed TestResource")
            .map(|log| (TestResource(Mutex::new(Some(log))), Chain))
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
        // A kernel without a location is not compared.
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

/// Prints when it is created and dropped.
struct LifetimeLog {
    output: Arc<dyn Output>,
    drop_message: String,
}

impl LifetimeLog {
    fn new(cx: &ExecContext, made: &str, dropped: &str) -> Result<LifetimeLog, KernelError> {
        cx.print(&format!("{made}\n"))?;
        Ok(LifetimeLog { output: cx.request.output.clone(), drop_message: format!("{dropped}\n") })
    }
}

impl Drop for LifetimeLog {
    fn drop(&mut self) {
        // A failure of the output cannot be reported from a destructor.
        _ = self.output.write(&self.drop_message);
    }
}

impl fmt::Debug for LifetimeLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LifetimeLog")
    }
}

/// A `!tfrt.test.resource`, until it is deallocated.
#[derive(Debug)]
struct TestResource(Mutex<Option<LifetimeLog>>);

impl Object for TestResource {
    const TYPES: &'static [&'static str] = &["!tfrt.test.resource"];

    fn display(&self) -> String {
        "TestResource".into()
    }
}

/// A `!vt.value`. Copies share the printing object.
#[derive(Clone, Debug)]
struct Vt {
    value: i32,
    _log: Arc<LifetimeLog>,
}

impl Vt {
    /// A value that prints its creation and the move into its holder.
    fn new(cx: &ExecContext, value: i32) -> Result<Vt, KernelError> {
        let made = format!("constructed vt.value({value})\nmove constructed vt.value({value})");
        let log = LifetimeLog::new(cx, &made, &format!("destroyed vt.value({value})"))?;
        Ok(Vt { value, _log: Arc::new(log) })
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

/// The location of the kernel that used each name.
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
