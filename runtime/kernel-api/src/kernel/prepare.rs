//! Preparation of the uses of a kernel, once when a program is loaded instead of at every call.
//!
//! A kernel with a parameter [`Prepared<T>`] gets the `T` that was made for its use: decoded attributes, code
//! selected by types and by the features of the processor, constants in their final layout. A file with a
//! faulty use is refused when it is loaded.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use bef_format::{Image, KernelView};
use befrost_mem::{Buffer, ViewError};
use rustc_hash::FxHashMap;

use super::attr::RawAttr;
use crate::image::SharedImage;

/// The result of a preparation, of any type.
pub type AnyPrepared = Box<dyn Any + Send + Sync>;

/// A function that prepares a use or returns the fault of the use.
#[derive(Clone)]
pub struct MakePrepared(Arc<MakeFn>);

type MakeFn = dyn Fn(&KernelUse<'_>) -> Result<AnyPrepared, String> + Send + Sync;

impl MakePrepared {
    /// Wraps a function. A closure may own data of the kernel.
    pub fn new<T: Send + Sync + 'static>(
        make: impl Fn(&KernelUse<'_>) -> Result<T, String> + Send + Sync + 'static,
    ) -> MakePrepared {
        MakePrepared(Arc::new(move |site| make(site).map(|made| Box::new(made) as AnyPrepared)))
    }
}

#[doc(hidden)]
impl MakePrepared {
    pub fn call(&self, site: &KernelUse<'_>) -> Result<AnyPrepared, String> {
        (self.0)(site)
    }
}

impl fmt::Debug for MakePrepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakePrepared")
    }
}

/// Data of a kernel's use, computed when a program is loaded.
pub trait Prepare: Send + Sync + Sized + 'static {
    /// Computes the data.
    ///
    /// # Errors
    /// The fault of the use.
    fn prepare(site: &KernelUse<'_>) -> Result<Self, String>;
}

/// A use of a kernel in a program that is being loaded.
pub struct KernelUse<'p> {
    name: &'static str,
    file: &'p SharedImage,
    function: u32,
    kernel: KernelView<'p, 'p>,
    shared: &'p SharedData,
}

/// Data that uses of kernels share while a program is loaded.
#[doc(hidden)]
#[derive(Default)]
pub struct SharedData(RefCell<FxHashMap<(TypeId, String), Box<dyn Any>>>);

impl<'p> KernelUse<'p> {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// An attribute, by its position in the op's definition.
    pub fn attr(&self, i: usize) -> Option<RawAttr<'p>> {
        let i = u32::try_from(i).ok().filter(|&i| i < self.kernel.n_attrs())?;
        Some(RawAttr::new(self.kernel.attr(i), self.image()))
    }

    /// An attribute by name, for kernels whose attributes are found by name.
    pub fn attr_named(&self, name: &str) -> Option<RawAttr<'p>> {
        self.kernel.attr_named(name).map(|view| RawAttr::new(view, self.image()))
    }

    /// The name of one of its functions; empty for a region.
    pub fn function_name(&self, i: usize) -> Option<&'p str> {
        let function = self.kernel.functions().get(i)?;
        Some(self.image().function(function.0).name())
    }

    /// The types of the operands, control edges included.
    pub fn operand_types(&self) -> impl Iterator<Item = &'p str> {
        let operands: &[u32] = self.kernel.operands();
        operands.iter().map(|&register| self.type_of(register))
    }

    /// The types of the results.
    pub fn result_types(&self) -> impl Iterator<Item = &'p str> {
        let first = self.kernel.first_result();
        (first..first + self.kernel.n_results()).map(|register| self.type_of(register))
    }

    /// For each operand: the name of the kernel that produces it (`None` for an argument), and the number of
    /// its uses, by kernels and as a result of the function.
    pub fn operand_sources(&self) -> impl Iterator<Item = (Option<&'p str>, usize)> {
        let function = self.image().function(self.function);
        let n_uses = |register: u32| {
            let kernels = function.kernels().flat_map(|kernel| kernel.operands());
            kernels.chain(function.results()).filter(|&&used| used == register).count()
        };
        let maker = |register: u32| {
            let makes = |kernel: &KernelView<'_, '_>| {
                register.checked_sub(kernel.first_result()).is_some_and(|i| i < kernel.n_results())
            };
            function.kernels().find(makes).map(|kernel| kernel.name())
        };
        let operands: &[u32] = self.kernel.operands();
        operands.iter().map(|&register| (maker(register), n_uses(register))).collect::<Vec<_>>().into_iter()
    }

    fn type_of(&self, register: u32) -> &'p str {
        self.image().type_name(self.image().function(self.function).register_type(register))
    }

    fn image(&self) -> &'p Image<'p> {
        self.file.image()
    }

    /// A clone of the shared data of type `T` with this key. The first caller in the program makes it.
    pub fn shared<T: Clone + 'static>(&self, key: &str, make: impl FnOnce() -> T) -> T {
        let key = (TypeId::of::<T>(), key.to_owned());
        if let Some(known) = self.shared.0.borrow().get(&key).and_then(|data| data.downcast_ref::<T>()) {
            return known.clone();
        }
        let made = make();
        self.shared.0.borrow_mut().insert(key, Box::new(made.clone()));
        made
    }

    /// A part of the file, such as the elements of a tensor, as a buffer that keeps the file alive. No copy.
    ///
    /// # Errors
    /// If `data` is not a part of the file.
    pub fn mapped(&self, data: &[u8]) -> Result<Buffer, ViewError> {
        self.file.view(data)
    }
}

#[doc(hidden)]
impl<'p> KernelUse<'p> {
    pub fn new(
        name: &'static str,
        file: &'p SharedImage,
        function: u32,
        kernel: KernelView<'p, 'p>,
        shared: &'p SharedData,
    ) -> KernelUse<'p> {
        KernelUse { name, file, function, kernel, shared }
    }
}

/// Parameter: the data that was computed for the kernel's use.
#[derive(Clone, Copy, Debug)]
pub struct Prepared<'f, T>(pub &'f T);

impl fmt::Debug for KernelUse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelUse").field("name", &self.name).finish_non_exhaustive()
    }
}
