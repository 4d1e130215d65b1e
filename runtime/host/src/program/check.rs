//! Check of every kernel use against the kernel's signature.
//!
//! A valid image may wire any register to any kernel. This module compares arity, types, attributes and
//! functions, so that execution only has to compare tags. All misuses are reported with their locations, up
//! to a limit.

use bef_format::layout::KERNEL_NAMED_ATTRS;
use bef_format::{
    AttrId, FunctionId, FunctionKind, FunctionView, Image, KernelView, OperandMode, RegisterRec, StringId,
    is_own_attr,
};

use super::devices;
use super::error::KernelUseError;
use befrost_kernel_api::executor::{FileDevices, is_chain, is_of, location_of};
use befrost_kernel_api::kernel::{CallResults, CallShape, Form, Kernel, Signature, Types};
use befrost_kernel_api::registry::Registry;

/// Limit of the reported errors.
pub(super) const MAX_ERRORS: usize = 20;

/// Kernel of each code, in the order of the file's kernel names.
pub(super) type Resolved<'r> = Vec<&'r Kernel>;

/// Finds all kernels and checks all uses.
pub(super) fn check<'r>(
    image: &Image<'_>,
    registry: &'r Registry,
    devices: &FileDevices,
) -> Result<Resolved<'r>, Vec<KernelUseError>> {
    let found: Vec<_> = image.kernel_names().map(|name| registry.find(name)).collect();
    let mut errors = Vec::new();
    let mut use_cache = UseCache { last: vec![None; found.len()] };
    for function in image.functions() {
        let registers = function.registers();
        for kernel in function.kernels() {
            let code = kernel.code().index();
            let use_of = UseCheck { image, kernel, function: function.index() };
            let known = match found.get(code).copied().flatten() {
                known if kernel.device() == 0 => Ok(known),
                host => devices::kernel_on(devices, &kernel, host, registry),
            };
            let known = match known {
                Ok(known) => known,
                Err(message) => {
                    errors.push(use_of.error(message));
                    if errors.len() == MAX_ERRORS {
                        return Err(errors);
                    }
                    continue;
                }
            };
            let result = match (use_cache.find(registers, &kernel), known) {
                (Some(last), _) if (last.attrs, last.attr_names) == (kernel.attrs(), kernel.attr_names()) => {
                    continue;
                }
                (Some(_), Some(known)) => use_of.check_attrs(known.name, &known.signature),
                (None, Some(known)) => use_of.check(known, registry),
                _ if kernel.name() == function.name() => {
                    Err(format!("this runtime has no native function '{}'", kernel.name()))
                }
                _ => Err(unknown(kernel.name(), registry)),
            };
            match result {
                Ok(()) => use_cache.remember(registers, &kernel),
                Err(message) => errors.push(use_of.error(message)),
            }
            if errors.len() == MAX_ERRORS {
                return Err(errors);
            }
        }
    }
    let on_kinds = |name: &str| registry.iter_on().find(|(_, kernel)| kernel.name == name);
    let names = image.kernel_names();
    let found = found.into_iter().zip(names);
    // A name that only a kind of devices has is used on its devices only.
    let found = found.map(|(host, name)| host.or_else(|| on_kinds(name).map(|(_, kernel)| kernel)));
    let resolved = found.collect::<Option<Vec<_>>>();
    match resolved {
        Some(resolved) if errors.is_empty() => Ok(resolved),
        // An unused name may be unknown, but then there is no kernel for its code.
        _ if errors.is_empty() => {
            let is_known = |name: &str| registry.find(name).is_some() || on_kinds(name).is_some();
            let unused = image.kernel_names().find(|name| !is_known(name)).unwrap_or_default();
            let message = unknown(unused, registry);
            Err(vec![KernelUseError { location: None, function: String::new(), message }])
        }
        _ => Err(errors),
    }
}

/// By code, the last correct use. Most uses of a kernel have the operand and result types of the one before,
/// and many its attributes too.
struct UseCache<'a> {
    last: Vec<Option<AcceptedUse<'a>>>,
}

/// A correct use.
#[derive(Clone, Default)]
struct AcceptedUse<'a> {
    /// Type ids.
    operands: Vec<u32>,
    /// Type ids.
    results: Vec<u32>,
    attrs: &'a [AttrId],
    attr_names: &'a [StringId],
}

impl<'a> UseCache<'a> {
    /// The last correct use of the same kernel, if this use differs from it at most in attributes.
    #[inline]
    fn find(&self, registers: &[RegisterRec], kernel: &KernelView<'_, 'a>) -> Option<&AcceptedUse<'a>> {
        let last = self.last.get(kernel.code().index())?.as_ref()?;
        let operands = kernel.operands();
        let is_alike = is_plain(kernel)
            && operands.len() == last.operands.len()
            && operands.iter().zip(&last.operands).all(|(&r, &ty)| registers[r as usize].ty == ty)
            && result_types(registers, kernel).eq(last.results.iter().copied());
        is_alike.then_some(last)
    }

    /// Records a correct use. Only plain uses are recorded.
    fn remember(&mut self, registers: &[RegisterRec], kernel: &KernelView<'_, 'a>) {
        let Some(last) = self.last.get_mut(kernel.code().index()) else { return };
        if is_plain(kernel) {
            let last = last.get_or_insert_default();
            last.operands.clear();
            last.operands.extend(kernel.operands().iter().map(|&register| registers[register as usize].ty));
            last.results.clear();
            last.results.extend(result_types(registers, kernel));
            last.attrs = kernel.attrs();
            last.attr_names = kernel.attr_names();
        }
    }
}

/// Whether only types and attributes need to be checked.
fn is_plain(kernel: &KernelView<'_, '_>) -> bool {
    kernel.flags() & !KERNEL_NAMED_ATTRS == 0 && kernel.device() == 0 && kernel.functions().is_empty()
}

fn result_types(registers: &[RegisterRec], kernel: &KernelView<'_, '_>) -> impl Iterator<Item = u32> {
    let first = kernel.first_result() as usize;
    registers[first..first + kernel.n_results() as usize].iter().map(|register| register.ty)
}

fn unknown(name: &str, registry: &Registry) -> String {
    let dialect = name.split('.').next().unwrap_or(name);
    let in_dialect = registry.iter().any(|kernel| kernel.name.split('.').next() == Some(dialect));
    if in_dialect {
        format!("unknown kernel name '{name}'")
    } else {
        format!("unknown kernel name '{name}': this runtime has no kernels of '{dialect}'")
    }
}

/// One use of a kernel.
struct UseCheck<'i, 'a> {
    image: &'i Image<'a>,
    kernel: KernelView<'i, 'a>,
    function: u32,
}

impl UseCheck<'_, '_> {
    /// The error of the use.
    fn error(&self, message: String) -> KernelUseError {
        let function = self.image.function(self.function);
        let of_function = || function.location().map(|id| self.image.location_string(id));
        let location = location_of(self.image, &self.kernel).or_else(of_function);
        KernelUseError { location, function: function.name().to_owned(), message }
    }

    /// Checks the use of the kernel, or of the native function that it calls.
    fn check(&self, known: &Kernel, registry: &Registry) -> Result<(), String> {
        let (name, signature) = match self.native(known) {
            None => (known.name, &*known.signature),
            Some(name) => match registry.find(name) {
                Some(native) if native.signature.n_functions == 0 && !native.signature.more_functions => {
                    (native.name, &*native.signature)
                }
                _ => return Err(format!("this runtime has no native function '{name}'")),
            },
        };
        self.check_operands(name, signature)?;
        self.check_results(name, signature)?;
        self.check_attrs(name, signature)?;
        self.check_functions(name, signature)
    }

    /// Name of the native function that this use calls, if the kernel is a plain call.
    fn native(&self, known: &Kernel) -> Option<&str> {
        let calls = known.signature.calls.is_some_and(|shape| shape.form == Form::Call);
        let callee = self.kernel.functions().first().filter(|_| calls)?;
        let callee = self.image.function(callee.0);
        (callee.kind() == FunctionKind::Native).then(|| callee.name())
    }

    fn type_of(&self, register: u32) -> &str {
        self.image.type_name(self.image.function(self.function).register_type(register))
    }

    fn check_operands(&self, name: &str, signature: &Signature) -> Result<(), String> {
        let operands = self.kernel.operands();
        let want = signature.operands.len();
        let n = n_passed(&self.kernel, signature, |i| self.type_of(operands[i]));
        if n < want || (n > want && signature.rest.is_none()) {
            let at_least = if signature.rest.is_some() { "at least " } else { "" };
            return Err(format!("'{name}' takes {at_least}{want} operand{}, got {n}", plural(want)));
        }
        for (i, &register) in operands.iter().enumerate().take(n) {
            let types = signature.operands.get(i).copied().or(signature.rest).unwrap_or_default();
            let found = self.type_of(register);
            if !accepts(types, found) {
                return Err(format!(
                    "operand #{i} of '{name}' has type {found}, expected {}",
                    types.join(" or ")
                ));
            }
            match self.kernel.operand_mode(i as u32) {
                OperandMode::Required => {}
                OperandMode::Lenient if signature.takes_any_state || signature.calls.is_some() => {}
                OperandMode::Order | OperandMode::After if is_chain(types) => {}
                mode => {
                    return Err(format!(
                        "operand #{i} of '{name}' cannot be {mode:?}: the kernel reads its value"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_results(&self, name: &str, signature: &Signature) -> Result<(), String> {
        let n = self.kernel.n_results() as usize;
        let want = signature.results.len();
        if n < want || (n > want && signature.rest_results.is_none()) {
            return Err(format!("'{name}' gives {want} result{}, used with {n}", plural(want)));
        }
        for i in 0..n {
            let types = signature.results.get(i).copied().or(signature.rest_results).unwrap_or_default();
            let found = self.type_of(self.kernel.first_result() + i as u32);
            if !accepts(types, found) {
                return Err(format!(
                    "result #{i} of '{name}' has type {found}, expected {}",
                    types.join(" or ")
                ));
            }
        }
        Ok(())
    }

    fn check_attrs(&self, name: &str, signature: &Signature) -> Result<(), String> {
        if let Some(known) = &signature.attr_names {
            return self.check_named_attrs(name, known);
        }
        let n = self.kernel.n_attrs() as usize;
        if self.kernel.has_named_attrs() {
            return Err(format!("'{name}' finds its attributes by their order, but is used with named ones"));
        }
        let want = signature.attrs.len();
        if n < want {
            return Err(format!("'{name}' needs {want} attribute{}, got {n}", plural(want)));
        }
        for (i, spec) in signature.attrs.iter().enumerate() {
            let attr = self.kernel.attr(i as u32);
            if !(spec.accepts)(&attr) {
                let which = match self.kernel.attr_name(i as u32) {
                    Some(attr_name) => format!("'{attr_name}'"),
                    None => format!("#{i}"),
                };
                return Err(format!("attribute {which} of '{name}' is not {}", spec.kind));
            }
        }
        Ok(())
    }

    fn check_named_attrs(&self, name: &str, known: &[&str]) -> Result<(), String> {
        if self.kernel.n_attrs() > 0 && !self.kernel.has_named_attrs() {
            return Err(format!(
                "'{name}' finds its attributes by name, but is used with attributes without names"
            ));
        }
        let names = self.kernel.attr_names().iter().map(|&id| self.image.string(id));
        let mut own = names.filter(|attr| is_own_attr(attr));
        match own.find(|attr| !known.contains(attr)) {
            Some(attr) => Err(format!("'{name}' has no attribute '{attr}'")),
            None => Ok(()),
        }
    }

    fn check_functions(&self, name: &str, signature: &Signature) -> Result<(), String> {
        let functions = self.kernel.functions();
        // The functions of a call of a native function are not arguments of the native function.
        if functions.iter().any(|id| self.image.function(id.0).kind() == FunctionKind::Native)
            && signature.calls.is_none()
        {
            return Ok(());
        }
        let want = signature.n_functions as usize;
        if functions.len() < want || (functions.len() > want && !signature.more_functions) {
            return Err(format!("'{name}' needs {want} function{}, got {}", plural(want), functions.len()));
        }
        let Some(shape) = signature.calls else { return Ok(()) };
        let operands = self.kernel.operands();
        let n = n_passed(&self.kernel, signature, |i| self.type_of(operands[i]));
        let arguments = operands.get(shape.first_operand as usize..n).unwrap_or_default();
        let bounds: &[&str] = if shape.results == CallResults::OfBlock { &["i32", "i32"] } else { &[] };
        let bounds = bounds.iter().copied();
        let arguments: Vec<&str> =
            bounds.chain(arguments.iter().map(|&register| self.type_of(register))).collect();
        functions.iter().try_for_each(|&id| self.check_callee(name, shape, &arguments, id))
    }

    /// Checks one callee of a kernel against `arguments`, the types of the arguments.
    fn check_callee(
        &self,
        name: &str,
        shape: CallShape,
        arguments: &[&str],
        id: FunctionId,
    ) -> Result<(), String> {
        let callee = self.image.function(id.0);
        let callee_name = if callee.name().is_empty() { "a region" } else { callee.name() };
        if callee.kind() == FunctionKind::Native {
            return Err(format!(
                "'{name}' cannot run '{callee_name}', which is native code: only a call can"
            ));
        }
        if shape.results == CallResults::Free {
            return Ok(());
        }
        let n_results = self.kernel.n_results();
        if n_results == 0 && is_nothing(&callee) {
            return Ok(());
        }
        // A trailing chain that is no argument of the callee only orders the call.
        let n_args = callee.n_args() as usize;
        let chain_more = arguments.len() == n_args + 1 && arguments.last() == Some(&"!tfrt.chain");
        if arguments.len() != n_args && !chain_more {
            return Err(format!(
                "'{callee_name}' takes {n_args} argument{}, got {}",
                plural(n_args),
                arguments.len()
            ));
        }
        for (i, found) in arguments.iter().enumerate().take(n_args) {
            let want = callee.arg_type(i as u32);
            if !is_passed(found, want) {
                return Err(format!("argument #{i} of '{callee_name}' has type {found}, expected {want}"));
            }
        }
        if shape.results == CallResults::OfBlock {
            let results: Vec<&str> = (0..callee.n_results()).map(|i| callee.result_type(i)).collect();
            return match results[..] {
                [] | ["!tfrt.chain"] => Ok(()),
                _ => Err(format!("'{callee_name}' may return nothing but a chain")),
            };
        }
        if shape.results == CallResults::Any {
            return Ok(());
        }
        let n_extra = u32::from(shape.results == CallResults::CarriedAndCondition);
        if callee.n_results() != n_results + n_extra {
            let want = callee.n_results() as usize;
            let extra = if n_extra > 0 { " and a condition" } else { "" };
            return Err(format!(
                "'{callee_name}' returns {want} value{}, used with {n_results}{extra}",
                plural(want)
            ));
        }
        for i in 0..n_results {
            let (found, want) = (self.type_of(self.kernel.first_result() + i), callee.result_type(i));
            if !is_passed(want, found) {
                return Err(format!("result #{i} of '{callee_name}' has type {want}, used as {found}"));
            }
        }
        if shape.results == CallResults::Kernel {
            return Ok(());
        }
        if n_extra > 0 && callee.result_type(n_results) != "i1" {
            let found = callee.result_type(n_results);
            return Err(format!("result #{n_results} of '{callee_name}' has type {found}, expected i1"));
        }
        if n_args as u32 != n_results {
            return Err(format!(
                "'{callee_name}' takes {n_args} argument{}, but the next time gets {n_results}",
                plural(n_args)
            ));
        }
        for i in 0..n_results {
            let (want, found) = (callee.arg_type(i), callee.result_type(i));
            if !is_passed(found, want) {
                return Err(format!(
                    "result #{i} of '{callee_name}' has type {found}, but the next time is an argument of type {want}"
                ));
            }
        }
        Ok(())
    }
}

/// Whether a function is an omitted branch: no arguments, no kernels, no results.
fn is_nothing(function: &FunctionView<'_, '_>) -> bool {
    function.name().is_empty()
        && function.n_args() == 0
        && function.n_kernels() == 0
        && function.n_results() == 0
}

/// Number of operands that are passed to a kernel. They may be followed by control edges, and by one chain if
/// the kernel takes none.
pub(super) fn n_passed<'t>(
    kernel: &KernelView<'_, '_>,
    signature: &Signature,
    type_of: impl Fn(usize) -> &'t str,
) -> usize {
    let declared = signature.operands.len();
    let mut n = kernel.operands().len();
    let is_edge = |i: usize| matches!(kernel.operand_mode(i as u32), OperandMode::Order | OperandMode::After);
    while n > declared && is_edge(n - 1) {
        n -= 1;
    }
    if signature.calls.is_none()
        && n > declared
        && signature.accepts_trailing_chain()
        && type_of(n - 1) == "!tfrt.chain"
    {
        n -= 1;
    }
    n
}

/// Whether a value of type `found` may be passed as one of type `want`. All tensors have the same
/// representation, whatever their static shape.
fn is_passed(found: &str, want: &str) -> bool {
    let is_tensor = |ty: &str| ty.starts_with("tensor<");
    found == want || is_tensor(found) && is_tensor(want)
}

fn accepts(types: Types, found: &str) -> bool {
    types.is_empty() || is_of(types, found)
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
