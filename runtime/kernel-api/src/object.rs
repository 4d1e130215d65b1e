//! Objects: counted data of a [`Value`](crate::Value) that needs more than eight bytes.
//!
//! ```text
//! ObjRef ──▶ Header { count, type info } | payload: T
//! ```
//!
//! An [`ObjRef`] is a thin, counted, type-erased pointer of eight bytes, so a `Value` has sixteen. The header
//! comes first, so it can be read without knowing the type. The payload behind it is accessed only after the
//! type was compared. Payloads are shared and therefore immutable; mutable data (a tensor's elements)
//! synchronizes its own accesses.
//!
//! The count follows `Arc`'s protocol, without weak references. So the only holder drops the object without
//! an atomic decrement. A panic of a payload's destructor is caught: an executor drops values where it cannot
//! unwind.

#![allow(unsafe_code, reason = "a type-erased counted pointer; the invariants are in the essay")]

use std::any::TypeId;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use befrost_mem::Allocator;

use crate::error::{KernelError, quietly};
use crate::live::count_object;
use crate::pool;
use crate::sync::{AtomicUsize, Ordering, fence};
use crate::value::Value;

/// A copy of a value in memory of another allocator, and its size in bytes.
pub type Copied = Result<(Value, usize), KernelError>;

/// A Rust type whose values may live in registers.
pub trait Object: fmt::Debug + Send + Sync + 'static {
    /// The IR types that this Rust type represents, as MLIR prints them, such as `!t.tensor`.
    const TYPES: &'static [&'static str];

    /// The text of a result in `bef-exec`.
    fn display(&self) -> String;

    /// A copy of the value in memory of another allocator, for devices with a memory of their own. `None` for
    /// types whose values are in the host's memory on every device.
    fn copied(&self, _to: &Arc<dyn Allocator>) -> Option<Copied> {
        None
    }
}

/// Type-erased operations on a payload.
struct TypeInfo {
    type_id: TypeId,
    /// [`Object::TYPES`].
    types: &'static [&'static str],
    /// Frees the allocation. The pointer must be the last reference to an object of `ObjRef::new::<T>`.
    free: unsafe fn(NonNull<Header>),
    debug: fn(&ObjRef, &mut fmt::Formatter<'_>) -> fmt::Result,
    display: fn(&ObjRef) -> String,
    copied: fn(&ObjRef, &Arc<dyn Allocator>) -> Option<Copied>,
}

impl TypeInfo {
    /// Counts a new object (1) or a dropped one (-1).
    fn count(&self, n: isize) {
        count_object(self.type_id, self.types.first().copied().unwrap_or("object"), n);
    }
}

struct Header {
    count: AtomicUsize,
    info: &'static TypeInfo,
}

#[repr(C)]
struct Boxed<T> {
    header: Header,
    payload: T,
}

/// Limit of the number of references. Beyond it the process aborts, as with `Arc`, before the count wraps
/// around.
const MAX_COUNT: usize = isize::MAX as usize;

/// A counted reference to an object of any type.
pub struct ObjRef(NonNull<Header>);

// SAFETY: the payload is `Send + Sync` (bound of `Object`), the count is atomic, and an `ObjRef` gives shared
// access only.
unsafe impl Send for ObjRef {}
// SAFETY: as above.
unsafe impl Sync for ObjRef {}

struct Info<T>(std::marker::PhantomData<T>);

impl<T: Object> Info<T> {
    const INFO: &'static TypeInfo = &TypeInfo {
        type_id: TypeId::of::<T>(),
        types: T::TYPES,
        free: free::<T>,
        debug: |object, f| match object.downcast_ref::<T>() {
            Some(payload) => payload.fmt(f),
            None => Err(fmt::Error),
        },
        display: |object| object.downcast_ref::<T>().map(T::display).unwrap_or_default(),
        copied: |object, to| object.downcast_ref::<T>()?.copied(to),
    };
}

/// # Safety
/// `header` must come from `ObjRef::new::<T>` and be the last reference.
unsafe fn free<T>(header: NonNull<Header>) {
    let place = header.cast::<Boxed<T>>();
    if std::mem::needs_drop::<T>() {
        // SAFETY: the caller's contract: a `Boxed<T>` lies there, whose first field is the header
        // (`repr(C)`), and this is the last reference. Its memory is not used as a `T` afterwards.
        quietly(|| unsafe { place.drop_in_place() });
    }
    // SAFETY: as above; it came from `pool::boxed`, and its contents were dropped.
    unsafe { pool::release(place) };
}

impl ObjRef {
    /// Moves `payload` to the heap.
    pub fn new<T: Object>(payload: T) -> ObjRef {
        let header = Header { count: AtomicUsize::new(1), info: Info::<T>::INFO };
        header.info.count(1);
        ObjRef(pool::boxed(Boxed { header, payload }).cast())
    }

    fn header(&self) -> &Header {
        // SAFETY: `self` holds a count, so the allocation lives; the header is never borrowed mutably.
        unsafe { self.0.as_ref() }
    }

    /// The payload, if it is a `T`.
    #[inline]
    pub fn downcast_ref<T: Object>(&self) -> Option<&T> {
        if self.header().info.type_id != TypeId::of::<T>() {
            return None;
        }
        // SAFETY: the type was compared, so the allocation is a `Boxed<T>`; `self` holds a count, so it lives
        // as long as the borrow.
        let boxed = unsafe { self.0.cast::<Boxed<T>>().as_ref() };
        Some(&boxed.payload)
    }

    /// The first IR type that the payload's Rust type represents.
    pub fn type_name(&self) -> &'static str {
        self.types().first().copied().unwrap_or("object")
    }

    /// All IR types that the payload's Rust type represents.
    pub fn types(&self) -> &'static [&'static str] {
        self.header().info.types
    }

    /// The payload as `bef-exec` prints a result.
    pub fn display(&self) -> String {
        (self.header().info.display)(self)
    }

    /// A copy of the value in memory of another allocator: [`Object::copied`].
    pub fn copied(&self, to: &Arc<dyn Allocator>) -> Option<Copied> {
        (self.header().info.copied)(self, to)
    }

    /// True if this is the only reference, whose holder may reuse the payload's memory.
    pub fn is_unique(&self) -> bool {
        // Acquire pairs with the Release decrements of `drop`: accesses of former holders happened before.
        self.header().count.load(Ordering::Acquire) == 1
    }

    /// The payload, if it is a `T` and this is the only reference. Otherwise the reference.
    pub fn into_inner<T: Object>(self) -> Result<T, ObjRef> {
        if self.header().info.type_id != TypeId::of::<T>() || !self.is_unique() {
            return Err(self);
        }
        self.header().info.count(-1);
        let only = ManuallyDrop::new(self);
        // SAFETY: the type was compared, so a `Boxed<T>` from `pool::boxed` lies there. This is the only
        // reference, and it is not dropped.
        let boxed = unsafe { pool::unbox(only.0.cast::<Boxed<T>>()) };
        Ok(boxed.payload)
    }

    /// True if both refer to one object.
    pub fn same(&self, other: &ObjRef) -> bool {
        self.0 == other.0
    }
}

impl Clone for ObjRef {
    #[inline]
    fn clone(&self) -> ObjRef {
        // Relaxed: the new reference is made from an existing one and publishes nothing.
        let before = self.header().count.fetch_add(1, Ordering::Relaxed);
        if before > MAX_COUNT {
            std::process::abort();
        }
        ObjRef(self.0)
    }
}

impl Drop for ObjRef {
    #[inline]
    fn drop(&mut self) {
        // The only holder needs no decrement, because no other thread can clone its reference.
        // Acquire: pairs with every other holder's Release decrement below.
        if self.header().count.load(Ordering::Acquire) != 1 {
            // Release: this holder's reads happen before the free; pairs with the Acquires of the last
            // holder.
            if self.header().count.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            // Acquire: as the load above.
            fence(Ordering::Acquire);
        }
        let info = self.header().info;
        info.count(-1);
        let free = info.free;
        // SAFETY: `free` is the function of the payload's type, and the count says that this is the last
        // reference.
        unsafe { free(self.0) };
    }
}

impl fmt::Debug for ObjRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.header().info.debug)(self, f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Token(#[allow(dead_code, reason = "held for its count")] Arc<()>);
    impl Object for Token {
        const TYPES: &'static [&'static str] = &["!test.token"];
        fn display(&self) -> String {
            "token".into()
        }
    }
    #[derive(Debug)]
    struct Other;
    impl Object for Other {
        const TYPES: &'static [&'static str] = &["!test.other"];
        fn display(&self) -> String {
            "other".into()
        }
    }

    #[test]
    fn a_panic_of_a_destructor_ends_nothing_else() {
        #[derive(Debug)]
        struct Loud(Token);
        impl Drop for Loud {
            fn drop(&mut self) {
                std::panic::panic_any(self.0.0.clone());
            }
        }
        impl Object for Loud {
            const TYPES: &'static [&'static str] = &["!test.loud"];
            fn display(&self) -> String {
                "loud".into()
            }
        }
        let count = Arc::new(());
        let objects = [(); 3].map(|()| ObjRef::new(Loud(Token(count.clone()))));
        drop(objects);
        assert_eq!(Arc::strong_count(&count), 1);
    }

    #[test]
    fn the_payload_is_dropped_with_the_last_reference() {
        let count = Arc::new(());
        let a = ObjRef::new(Token(count.clone()));
        assert!(a.is_unique());
        let b = a.clone();
        assert!(!a.is_unique());
        drop(a);
        assert_eq!(Arc::strong_count(&count), 2);
        assert!(b.is_unique());
        drop(b);
        assert_eq!(Arc::strong_count(&count), 1);
    }

    #[test]
    fn the_only_holder_can_take_the_payload() {
        let count = Arc::new(());
        let a = ObjRef::new(Token(count.clone()));
        let b = a.clone();
        let b = b.into_inner::<Token>().unwrap_err();
        drop(a);
        let b = b.into_inner::<Other>().unwrap_err();
        let token = b.into_inner::<Token>().unwrap();
        assert_eq!(Arc::strong_count(&count), 2);
        drop(token);
        assert_eq!(Arc::strong_count(&count), 1);
    }

    #[test]
    fn a_payload_is_only_seen_as_what_it_is() {
        let a = ObjRef::new(Other);
        assert!(a.downcast_ref::<Token>().is_none());
        assert!(a.downcast_ref::<Other>().is_some());
        assert_eq!(a.type_name(), "!test.other");
        assert_eq!(a.display(), "other");
        assert_eq!(format!("{a:?}"), "Other");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Debug)]
    struct Counted(Arc<AtomicUsize>, loom::cell::UnsafeCell<u32>);
    // SAFETY: the cell is only read while shared; loom checks that it is not written then.
    unsafe impl Sync for Counted {}
    impl Object for Counted {
        const TYPES: &'static [&'static str] = &["!test.counted"];
        fn display(&self) -> String {
            String::new()
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            // Freeing is a write: all reads must have happened before.
            self.1.with_mut(|_| ());
        }
    }

    #[test]
    fn loom_object_is_freed_once() {
        loom::model(|| {
            let drops = Arc::new(AtomicUsize::new(0));
            let a = ObjRef::new(Counted(drops.clone(), loom::cell::UnsafeCell::new(0)));
            let b = a.clone();
            let other = loom::thread::spawn(move || {
                let c = b.clone();
                drop(b);
                assert!(c.downcast_ref::<Counted>().is_some_and(|counted| counted.1.with(|_| true)));
            });
            drop(a);
            other.join().unwrap();
            assert_eq!(drops.load(Ordering::Relaxed), 1);
        });
    }
}
