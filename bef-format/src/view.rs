//! Views of the parts of a validated file: functions, kernels, attributes, locations.
//!
//! Views are small, borrow the image and are created on the fly. The strings and slices that they return live
//! as long as the file's bytes. A view exists only for an existing part, so no accessor can fail.
//!
//! Not here: the pools of strings, types and names (`image`), execution plans (the runtime's).

use std::borrow::Cow;

use crate::dtype::DType;
use crate::image::{Image, run, some, span, text};
use crate::layout::{
    ATTR_DENSE_ARRAY, ATTR_SPLAT, ATTR_UNRANKED, AttrId, AttrKind, CompiledModuleRec, DenseRec, DictEntry,
    FunctionId, FunctionKind, FunctionRec, KERNEL_ANY, KERNEL_NAMED_ATTRS, KERNEL_OPERAND_INFO, KernelCode,
    KernelRec, LOCATION_KIND_BITS, LocationId, LocationKind, OperandInfo, OperandMode, RegisterRec, StringId,
    TypeId,
};

/// One function of a file.
#[derive(Clone, Copy, Debug)]
pub struct FunctionView<'i, 'a> {
    image: &'i Image<'a>,
    index: u32,
    rec: FunctionRec,
}

impl<'i, 'a> FunctionView<'i, 'a> {
    pub(crate) fn new(image: &'i Image<'a>, index: u32) -> FunctionView<'i, 'a> {
        FunctionView { image, index, rec: image.functions[index as usize] }
    }

    /// The function's index, its [`FunctionId`].
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The name; empty for the body of a region.
    pub fn name(&self) -> &'a str {
        self.image.string(StringId(self.rec.name))
    }

    /// How the function is executed.
    pub fn kind(&self) -> FunctionKind {
        FunctionKind::from_code(self.rec.kind).unwrap_or(FunctionKind::Async)
    }

    /// The attribute dictionary, if there is one.
    pub fn attrs(&self) -> Option<AttrId> {
        some(self.rec.attrs).map(AttrId)
    }

    /// Number of arguments.
    pub fn n_args(&self) -> u32 {
        self.rec.n_args
    }

    /// Number of results.
    pub fn n_results(&self) -> u32 {
        self.rec.n_results
    }

    /// Type ids of the arguments.
    pub fn arg_types(&self) -> &'a [TypeId] {
        run(self.image.function_types, self.rec.first_type, self.rec.n_args)
    }

    /// Type ids of the results.
    pub fn result_types(&self) -> &'a [TypeId] {
        run(
            self.image.function_types,
            self.rec.first_type.saturating_add(self.rec.n_args),
            self.rec.n_results,
        )
    }

    /// The text of an argument's type. Panics if there is no such argument.
    pub fn arg_type(&self, i: u32) -> &'a str {
        self.image.type_name(self.arg_types()[i as usize])
    }

    /// The text of a result's type. Panics if there is no such result.
    pub fn result_type(&self, i: u32) -> &'a str {
        self.image.type_name(self.result_types()[i as usize])
    }

    /// The name of an argument, empty if it has none. Panics if there is no such argument.
    pub fn arg_name(&self, i: u32) -> &'a str {
        let names = run(self.image.io_names, self.rec.first_type, self.rec.n_args);
        self.image.string(names[i as usize])
    }

    /// The name of a result, empty if it has none. Panics if there is no such result.
    pub fn result_name(&self, i: u32) -> &'a str {
        let first = self.rec.first_type.saturating_add(self.rec.n_args);
        self.image.string(run(self.image.io_names, first, self.rec.n_results)[i as usize])
    }

    /// The source location of an argument, if present. Panics if there is no such argument.
    pub fn arg_location(&self, i: u32) -> Option<LocationId> {
        assert!(i < self.rec.n_args, "argument {i} of {}", self.rec.n_args);
        run(self.image.io_locations, self.rec.first_type, self.rec.n_args)
            .get(i as usize)
            .and_then(|&id| some(id))
            .map(LocationId)
    }

    /// Number of registers: the arguments first, then the results of the kernels in order.
    pub fn n_registers(&self) -> u32 {
        self.rec.n_registers
    }

    /// The registers, with their types.
    pub fn registers(&self) -> &'a [RegisterRec] {
        run(self.image.registers, self.rec.first_register, self.rec.n_registers)
    }

    /// The type of a register. Panics if there is no such register.
    pub fn register_type(&self, register: u32) -> TypeId {
        TypeId(self.registers()[register as usize].ty)
    }

    /// The kernels that read a register, once per use, newest first; uses by the return come first, as
    /// `RETURN`. Panics if there is no such register.
    pub fn users(&self, register: u32) -> &'a [u32] {
        assert!(register < self.rec.n_registers, "register {register} of {}", self.rec.n_registers);
        let pair = run(self.image.registers, self.rec.first_register.saturating_add(register), 2);
        let [rec, next] = pair else { return &[] };
        span(self.image.users, rec.first_user, next.first_user)
    }

    /// The SSA name of a register, empty if it has none or the file has no SSA names. Panics if there is no
    /// such register.
    pub fn ssa_name(&self, register: u32) -> &'a str {
        assert!(register < self.rec.n_registers, "register {register} of {}", self.rec.n_registers);
        let i = self.rec.first_register as usize + register as usize;
        text(self.image.ssa_names, self.image.ssa_name_bytes, i)
    }

    /// Number of kernels.
    pub fn n_kernels(&self) -> u32 {
        self.rec.n_kernels
    }

    /// One kernel. Panics if there is no such kernel.
    pub fn kernel(&self, kernel: u32) -> KernelView<'i, 'a> {
        assert!(kernel < self.rec.n_kernels, "kernel {kernel} of {}", self.rec.n_kernels);
        KernelView::new(self.image, self.rec.first_kernel + kernel)
    }

    /// All kernels, producers before users.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = KernelView<'i, 'a>> + use<'i, 'a> {
        let (image, first) = (self.image, self.rec.first_kernel);
        (0..self.rec.n_kernels).map(move |kernel| KernelView::new(image, first + kernel))
    }

    /// The registers that the function returns; none for native functions.
    pub fn results(&self) -> &'a [u32] {
        let n = if self.kind() == FunctionKind::Native { 0 } else { self.rec.n_results };
        run(self.image.results, self.rec.first_result, n)
    }

    /// The source location, if present.
    pub fn location(&self) -> Option<LocationId> {
        let rec = self.image.function_locations.get(self.index as usize)?;
        some(rec.function).map(LocationId)
    }

    /// The source location of the function's return, if present.
    pub fn return_location(&self) -> Option<LocationId> {
        let rec = self.image.function_locations.get(self.index as usize)?;
        some(rec.ret).map(LocationId)
    }
}

/// One kernel of a function's body.
#[derive(Clone, Copy, Debug)]
pub struct KernelView<'i, 'a> {
    image: &'i Image<'a>,
    /// Index into the whole file's kernels.
    index: u32,
    rec: &'a KernelRec,
    next: &'a KernelRec,
}

impl<'i, 'a> KernelView<'i, 'a> {
    fn new(image: &'i Image<'a>, index: u32) -> KernelView<'i, 'a> {
        KernelView {
            image,
            index,
            rec: &image.kernels[index as usize],
            next: &image.kernels[index as usize + 1],
        }
    }

    /// The code, an index into the kernel names.
    pub fn code(&self) -> KernelCode {
        KernelCode(self.rec.code)
    }

    /// The name by which the kernel is found in a registry.
    pub fn name(&self) -> &'a str {
        self.image.kernel_name(self.code())
    }

    /// The registers that the kernel reads.
    pub fn operands(&self) -> &'a [u32] {
        span(self.image.operands, self.rec.first_operand, self.next.first_operand)
    }

    /// The register of the first result; the other results follow it.
    pub fn first_result(&self) -> u32 {
        self.rec.first_result
    }

    /// Number of results.
    pub fn n_results(&self) -> u32 {
        u32::from(self.rec.n_results)
    }

    /// All aux words: attributes, their names, functions, operand words.
    fn aux(&self) -> &'a [u32] {
        span(self.image.aux, self.rec.first_aux, self.next.first_aux)
    }

    /// True if the kernel has only operands, results, a cost and a stream: no attributes and functions, all
    /// operands required and in host memory, the default device, and it waits for all operands.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.rec.first_aux == self.next.first_aux && self.rec.flags == 0 && self.rec.device == 0
    }

    /// Number of aux words before the functions.
    fn n_attr_words(&self) -> u32 {
        let n_infos = if self.has_operand_info() { self.operands().len() } else { 0 };
        self.aux().len().saturating_sub(n_infos + usize::from(self.rec.n_functions)) as u32
    }

    /// Number of attributes.
    pub fn n_attrs(&self) -> u32 {
        self.n_attr_words() / if self.has_named_attrs() { 2 } else { 1 }
    }

    /// True if attributes are found by name instead of by their order.
    pub fn has_named_attrs(&self) -> bool {
        self.rec.flags & KERNEL_NAMED_ATTRS != 0
    }

    /// The attributes: by ascending name if they are named, else in the order of the op's definition, then
    /// others by name.
    pub fn attrs(&self) -> &'a [AttrId] {
        bytemuck::cast_slice(self.aux().get(..self.n_attrs() as usize).unwrap_or(&[]))
    }

    /// The value of one attribute. Panics if there is no such attribute.
    pub fn attr(&self, i: u32) -> AttrView<'a> {
        self.image.attr(self.attrs()[i as usize])
    }

    /// The names of the attributes, ascending, if attributes are found by name; else empty.
    pub fn attr_names(&self) -> &'a [StringId] {
        let n = if self.has_named_attrs() { self.n_attrs() } else { 0 };
        bytemuck::cast_slice(run(self.aux(), n, n))
    }

    /// The value of the attribute of this name; `None` if there is no such attribute or attributes are not
    /// named.
    pub fn attr_named(&self, name: &str) -> Option<AttrView<'a>> {
        let found = self.attr_names().binary_search_by(|&id| self.image.string(id).cmp(name)).ok()?;
        Some(self.image.attr(*self.attrs().get(found)?))
    }

    /// The functions that the kernel refers to.
    pub fn functions(&self) -> &'a [FunctionId] {
        bytemuck::cast_slice(run(self.aux(), self.n_attr_words(), u32::from(self.rec.n_functions)))
    }

    /// The kernel's flags: [`KERNEL_ANY`], [`KERNEL_OPERAND_INFO`], [`KERNEL_NAMED_ATTRS`].
    pub fn flags(&self) -> u16 {
        self.rec.flags
    }

    /// True if some operand is not required or not in host memory.
    pub fn has_operand_info(&self) -> bool {
        self.rec.flags & KERNEL_OPERAND_INFO != 0
    }

    /// Mode and space of each operand; empty if all are required and in host memory.
    pub fn operand_info(&self) -> &'a [OperandInfo] {
        let n_before = self.n_attr_words() as usize + usize::from(self.rec.n_functions);
        if self.has_operand_info() {
            bytemuck::cast_slice(self.aux().get(n_before..).unwrap_or(&[]))
        } else {
            &[]
        }
    }

    /// The effect of an operand on the kernel's start.
    pub fn operand_mode(&self, i: u32) -> OperandMode {
        let info = self.operand_info().get(i as usize);
        info.and_then(|info| OperandMode::from_code(info.mode)).unwrap_or(OperandMode::Required)
    }

    /// The memory space in which the kernel requires an operand; 0 is the host's.
    pub fn operand_space(&self, i: u32) -> u8 {
        self.operand_info().get(i as usize).map_or(0, |info| info.space)
    }

    /// The number of events that the kernel waits for.
    pub fn ready_count(&self) -> u32 {
        self.rec.ready_count
    }

    /// The stream, at most the function's number of kernels.
    pub fn stream(&self) -> u32 {
        self.rec.stream
    }

    /// The estimated cost, if known.
    pub fn cost(&self) -> Option<u32> {
        (self.rec.cost != 0).then_some(self.rec.cost)
    }

    /// The device; 0 is the default host.
    pub fn device(&self) -> u16 {
        self.rec.device
    }

    /// True if the kernel runs when the first of its data operands is available.
    pub fn is_any(&self) -> bool {
        self.rec.flags & KERNEL_ANY != 0
    }

    /// The source location, if present.
    pub fn location(&self) -> Option<LocationId> {
        self.image.kernel_locations.get(self.index as usize).and_then(|&id| some(id)).map(LocationId)
    }

    fn aux_name(&self, i: usize) -> Option<&'a str> {
        let names = span(self.image.aux_names, self.rec.first_aux, self.next.first_aux);
        names.get(i).map(|&id| self.image.string(id))
    }

    /// The name of an attribute, if present.
    pub fn attr_name(&self, i: u32) -> Option<&'a str> {
        match self.attr_names().get(i as usize) {
            Some(&id) => Some(self.image.string(id)),
            None if i < self.n_attrs() => self.aux_name(i as usize),
            None => None,
        }
    }

    /// The name under which the kernel refers to a function, if present; empty for a region.
    pub fn function_name(&self, i: u32) -> Option<&'a str> {
        let n_before = self.n_attr_words() as usize;
        if i < u32::from(self.rec.n_functions) { self.aux_name(n_before + i as usize) } else { None }
    }
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrView<'a> {
    /// Presence is the value.
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int {
        /// Its type.
        ty: TypeId,
        /// The element type, if the type is an element type.
        dtype: Option<DType>,
        /// The number; unsigned 64-bit values are reinterpreted.
        value: i64,
    },
    /// A floating-point number.
    Float {
        /// Its type: one of f16, bf16, f32, f64.
        dtype: DType,
        /// Its bits, in the width of the type.
        bits: u64,
    },
    /// Text.
    Str(&'a str),
    /// The text of a type.
    Type(&'a str),
    /// The name of a symbol, without the `@`.
    Symbol(&'a str),
    /// A list of attributes.
    Array(&'a [AttrId]),
    /// A list of numbers of one type.
    Scalars {
        /// The type of the elements.
        ty: TypeId,
        /// The element type's code.
        dtype: DType,
        /// The elements, aligned for their type.
        bytes: &'a [u8],
        /// Number of elements.
        n: usize,
        /// True if it is written `array<i32: 1, 2>` instead of `[1 : i32, 2 : i32]`.
        dense: bool,
    },
    /// A dictionary, by ascending key.
    Dict(&'a [DictEntry]),
    /// A tensor.
    Dense {
        /// The type of the whole tensor.
        ty: TypeId,
        /// The type of the elements.
        dtype: DType,
        /// The dimensions.
        shape: &'a [i64],
        /// The elements in row-major order, or the one element of a splat. Booleans are unchecked bytes.
        data: &'a [u8],
        /// True if all elements equal the one in `data`.
        splat: bool,
    },
    /// A shape of known rank; -1 is an unknown dimension.
    Shape(&'a [i64]),
    /// A shape of unknown rank.
    UnrankedShape,
    /// MLIR text of an attribute without a kind of its own.
    Text(&'a str),
    /// A module that a kernel compiles.
    CompiledModule {
        /// Its symbol name.
        name: &'a str,
        /// The module as generic MLIR text.
        text: &'a str,
        /// The number of named functions before it.
        place: u32,
    },
    /// A symbol of a compiled module.
    CompilationUnit {
        /// The module, which is a [`CompiledModule`](AttrView::CompiledModule).
        module: AttrId,
        /// The symbol path, from the outermost name to the symbol's own.
        nested: &'a [StringId],
    },
}

impl AttrView<'_> {
    /// The number, if this is a floating-point number of 32 or 64 bits.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            AttrView::Float { dtype: DType::F32, bits } => Some(f64::from(f32::from_bits(bits as u32))),
            AttrView::Float { dtype: DType::F64, bits } => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
}

/// A source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationView<'a> {
    /// No location is known.
    Unknown,
    /// A position in a file.
    File {
        /// The file.
        file: &'a str,
        /// The line, from 1.
        line: u32,
        /// The column in the line, from 1.
        col: u32,
        /// Line and column of the end, if it is a range.
        end: Option<(u32, u32)>,
    },
    /// A name, optionally with a location.
    Name {
        /// The name.
        name: &'a str,
        /// The named location.
        child: Option<LocationId>,
    },
    /// An inlined location.
    CallSite {
        /// The location in the inlined function.
        callee: LocationId,
        /// The location of the call.
        caller: LocationId,
    },
    /// Several locations merged into one.
    Fused {
        /// The merged locations.
        parts: &'a [LocationId],
        /// Metadata of the merging pass.
        metadata: Option<AttrId>,
    },
    /// MLIR text of a location without a kind of its own.
    Text(&'a str),
}

impl<'a> Image<'a> {
    /// The value of an attribute; a unit for an id of another image.
    pub fn attr(&self, id: AttrId) -> AttrView<'a> {
        let Some(rec) = self.attributes.get(id.index()) else { return AttrView::Unit };
        let as_string = || self.string(StringId(rec.value as u32));
        let dtype = DType::from_code(rec.dtype);
        let ty = TypeId(rec.ty);
        match AttrKind::from_code(rec.kind) {
            None | Some(AttrKind::Unit) => AttrView::Unit,
            Some(AttrKind::Bool) => AttrView::Bool(rec.value != 0),
            Some(AttrKind::Int) => AttrView::Int { ty, dtype, value: rec.value as i64 },
            Some(AttrKind::Float) => AttrView::Float { dtype: dtype.unwrap_or(DType::F64), bits: rec.value },
            Some(AttrKind::String) => AttrView::Str(as_string()),
            Some(AttrKind::Type) => AttrView::Type(self.type_name(TypeId(rec.value as u32))),
            Some(AttrKind::Symbol) => AttrView::Symbol(as_string()),
            Some(AttrKind::Text) => AttrView::Text(as_string()),
            Some(AttrKind::Array) => AttrView::Array(cast(self.attr_bytes(rec.value))),
            Some(AttrKind::Dict) => AttrView::Dict(cast(self.attr_bytes(rec.value))),
            Some(AttrKind::Scalars) => {
                let dtype = dtype.unwrap_or(DType::UI8);
                let bytes = self.attr_bytes(rec.value);
                let n = bytes.len().checked_div(dtype.size()).unwrap_or(0);
                AttrView::Scalars { ty, dtype, bytes, n, dense: rec.flags & ATTR_DENSE_ARRAY != 0 }
            }
            Some(AttrKind::Dense) => {
                let (head, dims) = dense_parts(self.attr_bytes(rec.value));
                let start = usize::try_from(head.offset).unwrap_or(usize::MAX);
                let len = usize::try_from(head.len).unwrap_or(usize::MAX);
                let data = self.payload.get(start..).and_then(|rest| rest.get(..len)).unwrap_or(&[]);
                let splat = rec.flags & ATTR_SPLAT != 0;
                AttrView::Dense { ty, dtype: dtype.unwrap_or(DType::UI8), shape: dims, data, splat }
            }
            Some(AttrKind::Shape) if rec.flags & ATTR_UNRANKED != 0 => AttrView::UnrankedShape,
            Some(AttrKind::Shape) => AttrView::Shape(cast(self.attr_bytes(rec.value))),
            Some(AttrKind::CompiledModule) => match cast(self.attr_bytes(rec.value)) {
                [CompiledModuleRec { name, text, place }, ..] => AttrView::CompiledModule {
                    name: self.string(*name),
                    text: self.string(*text),
                    place: *place,
                },
                [] => AttrView::Unit,
            },
            Some(AttrKind::CompilationUnit) => match cast::<u32>(self.attr_bytes(rec.value)) {
                [module, nested @ ..] => AttrView::CompilationUnit {
                    module: AttrId(*module),
                    nested: bytemuck::cast_slice(nested),
                },
                [] => AttrView::Unit,
            },
        }
    }

    /// The entry of a dictionary attribute with this name.
    pub fn dict_entry(&self, dict: AttrId, name: &str) -> Option<AttrId> {
        let AttrView::Dict(entries) = self.attr(dict) else { return None };
        let found = entries.binary_search_by(|entry| self.string(entry.key).cmp(name)).ok()?;
        entries.get(found).map(|entry| entry.value)
    }

    /// The part of the attribute data that an attribute's value points to.
    pub(crate) fn attr_bytes(&self, value: u64) -> &'a [u8] {
        run(self.attr_data, value as u32, (value >> 32) as u32)
    }

    /// Number of locations.
    pub fn n_locations(&self) -> u32 {
        self.locations.len() as u32
    }

    /// A source location; unknown for an id of another image.
    pub fn location(&self, id: LocationId) -> LocationView<'a> {
        let Some(rec) = self.locations.get(id.index()) else { return LocationView::Unknown };
        let a = rec.kind_a >> LOCATION_KIND_BITS;
        let kind = LocationKind::from_code((rec.kind_a & ((1 << LOCATION_KIND_BITS) - 1)) as u8);
        match kind {
            None | Some(LocationKind::Unknown) => LocationView::Unknown,
            Some(LocationKind::File) => {
                // Ids ascend.
                let end = self.location_ends.binary_search_by_key(&id.0, |end| end.location).ok();
                let end = end.and_then(|i| self.location_ends.get(i)).map(|end| (end.line, end.col));
                LocationView::File { file: self.string(StringId(a)), line: rec.b, col: rec.c, end }
            }
            Some(LocationKind::Name) => {
                LocationView::Name { name: self.string(StringId(a)), child: some(rec.b).map(LocationId) }
            }
            Some(LocationKind::CallSite) => {
                LocationView::CallSite { callee: LocationId(rec.b), caller: LocationId(rec.c) }
            }
            Some(LocationKind::Fused) => LocationView::Fused {
                parts: run(self.location_extra, rec.b, rec.c),
                metadata: a.checked_sub(1).map(AttrId),
            },
            Some(LocationKind::Text) => LocationView::Text(self.string(StringId(a))),
        }
    }

    /// A source location for messages: `file:line:col` of the innermost file location, else a name, else
    /// `unknown`.
    pub fn location_string(&self, id: LocationId) -> String {
        let (mut at, mut name) = (Some(id), None);
        // Children have smaller ids, so this terminates.
        while let Some(id) = at {
            at = match self.location(id) {
                LocationView::Unknown => None,
                LocationView::File { file, line, col, end: _ } => return format!("{file}:{line}:{col}"),
                LocationView::Name { name: found, child } => {
                    name = name.or(Some(found));
                    child
                }
                LocationView::CallSite { callee, caller: _ } => Some(callee),
                LocationView::Fused { parts, metadata: _ } => parts.first().copied(),
                LocationView::Text(text) => return text.to_owned(),
            }
            .filter(|&next| next < id);
        }
        name.unwrap_or("unknown").to_owned()
    }

    /// A source location for messages, and those of the calls that were inlined around it, innermost first:
    /// each as [`Self::location_string`]. At most 64.
    pub fn location_trace(&self, id: LocationId) -> Vec<String> {
        const MAX_CALLS: usize = 64;
        let mut trace = vec![self.location_string(id)];
        let mut at = Some(id);
        // Children have smaller ids, so this terminates.
        while let Some(id) = at.take()
            && trace.len() < MAX_CALLS
        {
            at = match self.location(id) {
                LocationView::CallSite { callee: _, caller } => {
                    trace.push(self.location_string(caller));
                    Some(caller)
                }
                LocationView::Name { name: _, child } => child,
                LocationView::Fused { parts, metadata: _ } => parts.first().copied(),
                _ => None,
            }
            .filter(|&next| next < id);
        }
        trace
    }

    /// The name of a name location, or of the callee of a call site; of a fused location the names of its
    /// parts, one after the other, which may be none.
    pub fn location_name(&self, id: LocationId) -> Option<Cow<'a, str>> {
        let name = |id: LocationId| match self.location(id) {
            LocationView::Name { name, child: _ } => Some(name),
            _ => None,
        };
        match self.location(id) {
            LocationView::CallSite { callee, caller: _ } => name(callee).map(Cow::Borrowed),
            LocationView::Fused { parts, metadata: _ } => {
                Some(parts.iter().filter_map(|&part| name(part)).collect())
            }
            _ => name(id).map(Cow::Borrowed),
        }
    }
}

/// The fixed start and the dimensions of a dense attribute's data.
pub(crate) fn dense_parts(bytes: &[u8]) -> (DenseRec, &[i64]) {
    let (head, rest) = bytes.split_at_checked(size_of::<DenseRec>()).unwrap_or((&[], &[]));
    let head = bytemuck::try_pod_read_unaligned(head).unwrap_or(bytemuck::Zeroable::zeroed());
    (head, cast(rest))
}

/// Bytes as records; empty if the cast fails.
pub(crate) fn cast<T: bytemuck::Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::try_cast_slice(bytes).unwrap_or(&[]) }
}
