//! Resources: typed, named objects that outlive a request.
//!
//! ```text
//! Resources ──▶ lock ──▶ type ──▶ (device, container, name) ──▶ Arc<T>
//! ```
//!
//! Names are unique within a type and a device, as in TensorFlow's resource manager: a variable and a table
//! may have the same name, and so may variables of two devices. Listings are in the order of types,
//! containers, names and devices.
//!
//! One lock guards the table of names only. It is held while an entry is looked up, added or removed, never
//! while a resource is used. It is the innermost lock: a resource may look up another one under a lock of its
//! own.
//!
//! Not here: values. A mutable resource has a lock of its own.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

/// A type of resources.
pub trait Resource: Any + Send + Sync {
    /// The type's name in listings, such as `variable`.
    const TYPE: &'static str;
}

/// The name of a resource. Clones share the text and are equal by address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName(Arc<NameParts>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct NameParts {
    container: Box<str>,
    name: Box<str>,
    /// The full name of the device; empty for the client's.
    device: Box<str>,
}

impl ResourceName {
    /// A name in a container, as in TensorFlow, whose default container has the empty name. The resource is
    /// on the client's device.
    pub fn new(container: &str, name: &str) -> ResourceName {
        let (container, name) = (container.into(), name.into());
        ResourceName(Arc::new(NameParts { container, name, device: Box::default() }))
    }

    /// The same name on the device with this full name.
    #[must_use]
    pub fn on(&self, device: &str) -> ResourceName {
        let NameParts { container, name, device: _ } = &*self.0;
        let (container, name) = (container.clone(), name.clone());
        ResourceName(Arc::new(NameParts { container, name, device: device.into() }))
    }

    /// The full name of the resource's device, empty for the client's.
    pub fn device(&self) -> &str {
        &self.0.device
    }

    /// The container.
    pub fn container(&self) -> &str {
        &self.0.container
    }

    /// The name in the container.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl From<&str> for ResourceName {
    /// The name, in the container whose name is empty.
    fn from(name: &str) -> ResourceName {
        ResourceName::new("", name)
    }
}

impl fmt::Debug for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{self}'")
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (container, name) = (self.container(), self.name());
        if container.is_empty() { f.write_str(name) } else { write!(f, "{container}/{name}") }
    }
}

/// Resources that calls share. A clone is another handle of the same resources.
#[derive(Clone, Default)]
pub struct Resources(Arc<Mutex<ResourceTable>>);

/// The resources by type. Hashed, because running kernels look them up; listings sort them.
type ResourceTable = FxHashMap<TypeId, OfType>;

/// The resources of a type.
struct OfType {
    ty: &'static str,
    /// Names come from programs, so their hashes are keyed.
    by_name: HashMap<ResourceName, Arc<dyn Any + Send + Sync>>,
}

impl Resources {
    /// The resource of type `T` called `name`, if there is one.
    pub fn find<T: Resource>(&self, name: &ResourceName) -> Option<Arc<T>> {
        find(self.lock().get(&TypeId::of::<T>())?, name)
    }

    /// The resource of type `T` called `name`, after adding `resource` if there was none.
    pub fn or_insert<T: Resource>(&self, name: &ResourceName, resource: Arc<T>) -> Arc<T> {
        self.or_insert_arc(name, || resource)
    }

    /// The resource of type `T` called `name`, made by `make` if there was none. `make` runs under the lock
    /// of the names, so it must not use these resources.
    pub fn or_insert_with<T: Resource>(&self, name: &ResourceName, make: impl FnOnce() -> T) -> Arc<T> {
        self.or_insert_arc(name, || Arc::new(make()))
    }

    fn or_insert_arc<T: Resource>(&self, name: &ResourceName, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut types = self.lock();
        let entry = types.entry(TypeId::of::<T>());
        let of_type = entry.or_insert_with(|| OfType { ty: T::TYPE, by_name: HashMap::new() });
        find(of_type, name).unwrap_or_else(|| {
            let made = make();
            of_type.by_name.insert(name.clone(), made.clone());
            made
        })
    }

    /// Removes `resource` if it is the one called `name`, not another one of the same name. Returns whether
    /// it was there.
    pub fn remove<T: Resource>(&self, name: &ResourceName, resource: &Arc<T>) -> bool {
        let mut types = self.lock();
        let Some(of_type) = types.get_mut(&TypeId::of::<T>()) else { return false };
        let is_there = find(of_type, name).is_some_and(|there| Arc::ptr_eq(&there, resource));
        if is_there {
            of_type.by_name.remove(name);
        }
        is_there
    }

    /// The types and names of all resources.
    pub fn list(&self) -> Vec<(&'static str, ResourceName)> {
        let types = self.lock();
        let names = types.values().flat_map(|of| of.by_name.keys().map(|name| (of.ty, name.clone())));
        let mut listed: Vec<_> = names.collect();
        listed.sort();
        listed
    }

    /// A snapshot of the resources of type `T`, with their names.
    pub fn all<T: Resource>(&self) -> Vec<(ResourceName, Arc<T>)> {
        let types = self.lock();
        let of_type = types.get(&TypeId::of::<T>()).into_iter().flat_map(|of_type| &of_type.by_name);
        let mut all: Vec<_> = of_type.filter_map(|(name, it)| Some((name.clone(), typed(it)?))).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    fn lock(&self) -> MutexGuard<'_, ResourceTable> {
        // A panic of `make` leaves the table unchanged.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.list()).finish()
    }
}

fn find<T: Resource>(of_type: &OfType, name: &ResourceName) -> Option<Arc<T>> {
    of_type.by_name.get(name).and_then(typed)
}

/// Downcast of a resource in the table of type `T`.
fn typed<T: Resource>(resource: &Arc<dyn Any + Send + Sync>) -> Option<Arc<T>> {
    resource.clone().downcast().ok()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Number(i32);
    impl Resource for Number {
        const TYPE: &'static str = "number";
    }

    #[derive(Debug, PartialEq)]
    struct Letter(char);
    impl Resource for Letter {
        const TYPE: &'static str = "letter";
    }

    fn named(container: &str, name: &str) -> ResourceName {
        ResourceName::new(container, name)
    }

    #[test]
    fn a_name_is_one_within_its_type_and_container() {
        let resources = Resources::default();
        let a = ResourceName::from("a");
        assert_eq!(resources.find::<Number>(&a), None);
        assert_eq!(*resources.or_insert_with(&a, || Number(1)), Number(1));
        assert_eq!(*resources.or_insert_with(&a, || Number(2)), Number(1));
        assert_eq!(*resources.or_insert(&a, Arc::new(Number(3))), Number(1));
        assert_eq!(*resources.or_insert_with(&a, || Letter('x')), Letter('x'));
        assert_eq!(*resources.or_insert_with(&named("c", "a"), || Number(4)), Number(4));
        assert_eq!(*resources.clone().find::<Number>(&a).unwrap(), Number(1));
        assert_eq!((a.to_string(), named("c", "a").to_string()), ("a".to_owned(), "c/a".to_owned()));
        let elsewhere = a.on("/job:localhost/replica:0/task:0/device:CPU:1");
        assert_eq!(*resources.or_insert_with(&elsewhere, || Number(5)), Number(5));
        assert_eq!((elsewhere.name(), elsewhere.device().ends_with("CPU:1")), ("a", true));
    }

    #[test]
    fn listings_are_in_order() {
        let resources = Resources::default();
        for (container, name) in [("", "b"), ("d", "a"), ("", "a"), ("c", "z")] {
            resources.or_insert_with(&named(container, name), || Number(0));
        }
        resources.or_insert_with(&"y".into(), || Letter('y'));
        let want = [named("", "a"), named("", "b"), named("c", "z"), named("d", "a")];
        let all = resources.all::<Number>();
        assert_eq!(all.iter().map(|(name, _)| name).collect::<Vec<_>>(), want.iter().collect::<Vec<_>>());
        let listed = resources.list();
        assert_eq!(listed[0], ("letter", "y".into()));
        assert_eq!(listed[1..], want.map(|name| ("number", name)));
        assert!(format!("{resources:?}").contains("letter"));
    }

    #[test]
    fn removed_resources_can_be_made_anew() {
        let (resources, a) = (Resources::default(), ResourceName::from("a"));
        let first = resources.or_insert_with(&a, || Number(1));
        assert!(!resources.remove(&a, &Arc::new(Letter('a'))));
        assert!(resources.remove(&a, &first));
        assert!(!resources.remove(&a, &first));
        let second = resources.or_insert_with(&a, || Number(2));
        assert!(!resources.remove(&a, &first), "another one has the name");
        assert_eq!(resources.find(&a), Some(second));
        assert_eq!(*first, Number(1));
    }

    #[test]
    fn all_threads_get_the_one_that_was_made() {
        let (resources, a) = (Resources::default(), ResourceName::from("a"));
        let made = std::thread::scope(|scope| {
            let make = |i| resources.or_insert_with(&"a".into(), || Number(i));
            let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || make(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let there = resources.find(&a).unwrap();
        assert!(made.iter().all(|made| Arc::ptr_eq(made, &there)));
    }

    #[test]
    fn a_panic_while_one_is_made_leaves_the_others() {
        let (resources, a) = (Resources::default(), ResourceName::from("a"));
        let panicking = resources.clone();
        let join = std::thread::spawn(move || {
            panicking.or_insert_with(&"a".into(), || -> Number { panic!("on purpose") })
        });
        assert!(join.join().is_err());
        assert_eq!(resources.find::<Number>(&a), None);
        assert_eq!(*resources.or_insert_with(&a, || Number(1)), Number(1));
    }
}
