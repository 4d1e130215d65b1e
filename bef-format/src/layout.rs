//! The records of a BEF file, exactly as stored.
//!
//! ```text
//! Header │ SectionRec × n │ section │ section │ ... │ Payload
//!   64 B │     32 B each  │ 8-aligned tables        │ 64-aligned tensor bytes
//! ```
//!
//! This file is the single source of the layout: the reader casts bytes to these records, the writer casts
//! these records to bytes, and a test compares `FORMAT.md` with this file. Every record is `Pod`: no padding,
//! no pointers, only little-endian integers, so any bytes *are* a record. The allowed values of the integers
//! are defined by `validate`, and only there.
//!
//! Partitions. If a record has a `first_x` and no count, the count is the next record's `first_x` minus its
//! own. The table then ends with one more record, the sentinel, of which only the `first_x` fields are used.
//!
//! Not here: rules (`validate`), access (`image`), the description for humans (`FORMAT.md`).

use bytemuck::{Pod, Zeroable};

/// The first two bytes of every BEF file.
pub const MAGIC: [u8; 2] = [0x0B, 0xEF];
/// Format version that this crate reads and writes; a larger one in a file is refused.
pub const MAJOR: u8 = 1;
/// Minor version that this crate writes; a larger one in a file is accepted.
pub const MINOR: u8 = 1;
/// The feature bits that this crate understands; any other bit in a file is refused.
pub const KNOWN_FEATURES: u64 = FEATURE_COMPILED | FEATURE_NAMED_ATTRS;
/// Feature bit of files that hold attributes of the kinds [`AttrKind::CompiledModule`] and
/// [`AttrKind::CompilationUnit`].
pub const FEATURE_COMPILED: u64 = 1;
/// Feature bit of files that hold kernels with [`KERNEL_NAMED_ATTRS`].
pub const FEATURE_NAMED_ATTRS: u64 = 2;
/// The absent id, where an id may be absent.
pub const NONE: u32 = u32::MAX;
/// The entry of a used-by list that stands for one use by the function's return.
pub const RETURN: u32 = u32::MAX;
/// Alignment of every section, and of the bytes given to `validate`.
pub const TABLE_ALIGN: usize = 8;
/// Alignment of the payload section and of each tensor in it.
pub const PAYLOAD_ALIGN: usize = 64;
/// The maximal nesting depth of attributes; leaves have depth 0.
pub const MAX_ATTR_DEPTH: u8 = 64;
/// The maximal number of nodes of an attribute, where a shared child counts each time it is reached.
pub const MAX_ATTR_NODES: u32 = 1 << 22;
/// The maximal nesting depth of locations; leaves have depth 0.
pub const MAX_LOCATION_DEPTH: u8 = 64;
/// The maximal number of nodes of a location, where a shared child counts each time it is reached.
pub const MAX_LOCATION_NODES: u32 = 1 << 16;
/// The maximal number of dimensions of a shape or dense attribute.
pub const MAX_RANK: u32 = 255;
/// The maximal number of sections of a file, unknown ones included.
pub const MAX_SECTIONS: u32 = 1024;

/// The fixed start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 2],
    /// Format version; readers refuse a newer one.
    pub major: u8,
    /// Additions that old readers may ignore.
    pub minor: u8,
    /// Number of records in the section directory, which follows the header.
    pub n_sections: u32,
    /// Length of the whole file; nothing may follow.
    pub file_len: u64,
    /// One bit per feature that a reader must know to read the file.
    pub features: u64,
    /// String id of the program that wrote the file.
    pub producer: u32,
    /// String id of the module's symbol name, or [`NONE`].
    pub module_name: u32,
    /// Attribute id of the module's attribute dictionary, or [`NONE`].
    pub module_attrs: u32,
    /// Zero.
    pub reserved: [u32; 5],
    /// xxh3-64 of this header with this field zero, followed by the section directory.
    pub checksum: u64,
}

/// One entry of the section directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SectionRec {
    /// A [`SectionId`], or the id of a section that this reader does not know.
    pub id: u32,
    /// Bit 0, [`SECTION_OPTIONAL`]: a reader that does not know the id skips the section.
    pub flags: u32,
    /// Offset from the start of the file.
    pub offset: u64,
    /// Length in bytes, without padding.
    pub len: u64,
    /// xxh3-64 of the section's bytes.
    pub checksum: u64,
}

/// [`SectionRec::flags`]: readers that do not know the section skip it.
pub const SECTION_OPTIONAL: u32 = 1;

/// Declares the sections: enum, table of all of them in file order, names, element sizes.
macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $need:ident, $record:ty;)*) => {
        /// The sections, in the order in which they lie in the file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum SectionId { $($(#[$doc])* $name = $id,)* }

        impl SectionId {
            /// All known sections, by ascending id.
            pub const ALL: &[SectionId] = &[$(SectionId::$name,)*];

            /// The name used in `FORMAT.md`, dumps and errors.
            pub fn name(self) -> &'static str {
                match self { $(SectionId::$name => stringify!($name),)* }
            }

            /// True if a file may lack the section.
            pub fn is_optional(self) -> bool {
                match self { $(SectionId::$name => sections!(@$need),)* }
            }

            /// Size in bytes of one element of the section.
            pub fn record_size(self) -> usize {
                match self { $(SectionId::$name => size_of::<$record>(),)* }
            }

            /// The name of the element type, as in `FORMAT.md`.
            pub fn record_name(self) -> &'static str {
                match self { $(SectionId::$name => stringify!($record),)* }
            }
        }
    };
    (@mandatory) => { false };
    (@optional) => { true };
}

sections! {
    /// Where each string starts in `StringBytes`; one more entry than strings.
    StringIndex = 1, mandatory, u32;
    /// All strings, sorted, without separators.
    StringBytes = 2, mandatory, u8;
    /// String id of each type's MLIR text.
    Types = 3, mandatory, u32;
    /// String id of each kernel's name.
    KernelNames = 4, mandatory, u32;
    /// String id of each device's name; device 0 is the default host, named by the empty string.
    Devices = 5, mandatory, u32;
    /// Attribute values; children before parents.
    Attributes = 6, mandatory, AttrRec;
    /// Attribute data that does not fit into an attribute record.
    AttrData = 7, mandatory, u8;
    /// Functions and a sentinel.
    Functions = 8, mandatory, FunctionRec;
    /// Type ids of each function's arguments, then results.
    FunctionTypes = 9, mandatory, u32;
    /// String ids of the names of each function's arguments, then results; parallel to `FunctionTypes`.
    IoNames = 10, mandatory, u32;
    /// Kernels of all functions and a sentinel.
    Kernels = 11, mandatory, KernelRec;
    /// Registers that each kernel reads.
    Operands = 12, mandatory, u32;
    /// Attribute ids, the string ids of their names, function ids and operand words of each kernel.
    Aux = 13, mandatory, u32;
    /// Registers of all functions and a sentinel.
    Registers = 14, mandatory, RegisterRec;
    /// Used-by lists of all registers.
    Users = 15, mandatory, u32;
    /// Registers that each function returns.
    Results = 16, mandatory, u32;
    /// Source locations; children before parents.
    Locations = 32, optional, LocationRec;
    /// Children of fused locations.
    LocationExtra = 33, optional, u32;
    /// Location id of each kernel, or NONE.
    KernelLocations = 34, optional, u32;
    /// Location ids of each function and of its return; the last record is the module's.
    FunctionLocations = 35, optional, FunctionLocationRec;
    /// Location id of each argument, or NONE; parallel to `FunctionTypes`.
    IoLocations = 36, optional, u32;
    /// String id of the name of each attribute and function in `Aux`, unless that holds it; parallel to it.
    AuxNames = 37, optional, u32;
    /// Where each register's SSA name starts in `SsaNameBytes`; one more entry than registers.
    SsaNames = 38, optional, u32;
    /// All SSA names, without separators; an empty name is none.
    SsaNameBytes = 39, optional, u8;
    /// Where the locations that are ranges end; since version 1.1.
    LocationEnds = 40, optional, LocationEndRec;
    /// Tensor bytes, each tensor 64-byte aligned, identical ones stored once.
    Payload = 64, mandatory, u8;
}

/// One attribute value. The meaning of `value` depends on `kind`, see [`AttrKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct AttrRec {
    /// An [`AttrKind`].
    pub kind: u8,
    /// A `DType` code if the kind has elements or a width; else 0.
    pub dtype: u8,
    /// 0 for leaves, else one more than the deepest child.
    pub depth: u8,
    /// [`ATTR_DENSE_ARRAY`], [`ATTR_SPLAT`], [`ATTR_UNRANKED`], if the kind allows it.
    pub flags: u8,
    /// Type id if the kind has a type, else [`NONE`].
    pub ty: u32,
    /// Inline value, or offset into `AttrData` in the low half and length in bytes in the high half.
    pub value: u64,
}

/// [`AttrRec::flags`] of scalar arrays: written `array<i32: 1, 2>`, not `[1 : i32, 2 : i32]`.
pub const ATTR_DENSE_ARRAY: u8 = 1;
/// [`AttrRec::flags`] of dense attributes: the payload is one element that all elements equal.
pub const ATTR_SPLAT: u8 = 2;
/// [`AttrRec::flags`] of shapes: the rank is unknown.
pub const ATTR_UNRANKED: u8 = 4;

/// Declares an enum that is stored as one byte.
macro_rules! byte_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $code,)* }

        impl $name {
            /// All variants, by ascending code.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The variant with this code, if there is one.
            pub fn from_code(code: u8) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }
        }
    };
}
pub(crate) use byte_enum;

byte_enum! {
    /// The kind of an attribute.
    AttrKind {
        /// Presence is the value.
        Unit = 0,
        /// `value` is 0 or 1.
        Bool = 1,
        /// `value` is a two's complement number, extended to 64 bits by its type's signedness.
        Int = 2,
        /// `value` holds the bits in the width of `dtype`.
        Float = 3,
        /// `value` is a string id.
        String = 4,
        /// `value` is a type id.
        Type = 5,
        /// `value` is a string id: the name of a symbol, without the `@`.
        Symbol = 6,
        /// Data: attribute ids.
        Array = 7,
        /// Data: elements of `dtype`.
        Scalars = 8,
        /// Data: [`DictEntry`] records, by ascending key.
        Dict = 9,
        /// Data: [`DenseRec`], then the dimensions as `i64`.
        Dense = 10,
        /// Data: dimensions as `i64`, -1 where unknown.
        Shape = 11,
        /// `value` is a string id: MLIR text of an attribute without a kind of its own.
        Text = 12,
        /// Data: [`CompiledModuleRec`]. A reference to it is a reference to the whole module.
        CompiledModule = 13,
        /// Data: the attribute id of a compiled module, then string ids of the symbol path in it.
        CompilationUnit = 14,
    }
}

/// A module that a kernel compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CompiledModuleRec {
    /// Its symbol name.
    pub name: StringId,
    /// The module as generic MLIR text.
    pub text: StringId,
    /// The number of named functions before it.
    pub place: u32,
}

/// One entry of a dictionary attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DictEntry {
    /// The entry's name.
    pub key: StringId,
    /// The entry's value.
    pub value: AttrId,
}

/// Start of the data of a dense attribute; `rank` dimensions (`i64`) follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DenseRec {
    /// Number of dimensions.
    pub rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Offset of the elements in `Payload`, a multiple of [`PAYLOAD_ALIGN`].
    pub offset: u64,
    /// Length of the elements in bytes.
    pub len: u64,
}

/// One function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FunctionRec {
    /// String id of the name; string 0, the empty one, for the body of a region.
    pub name: u32,
    /// A [`FunctionKind`].
    pub kind: u8,
    /// Zero.
    pub reserved: [u8; 3],
    /// Attribute id of the attribute dictionary, or [`NONE`].
    pub attrs: u32,
    /// Number of arguments, which are the first registers.
    pub n_args: u32,
    /// Number of results.
    pub n_results: u32,
    /// First entry in `FunctionTypes` and `IoNames`.
    pub first_type: u32,
    /// First entry in `Kernels`.
    pub first_kernel: u32,
    /// Number of kernels.
    pub n_kernels: u32,
    /// First entry in `Registers`.
    pub first_register: u32,
    /// Number of registers: the arguments and all kernels' results; 0 for native functions.
    pub n_registers: u32,
    /// First entry in `Results`.
    pub first_result: u32,
}

byte_enum! {
    /// How a function is executed; the codes are TFRT's.
    FunctionKind {
        /// By the dataflow executor.
        Async = 0,
        /// By code outside of the file, found by name.
        Native = 1,
        /// Kernel by kernel on the calling thread.
        Sync = 2,
    }
}

/// One kernel of a function's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct KernelRec {
    /// Index into `KernelNames`.
    pub code: u32,
    /// First entry in `Operands`.
    pub first_operand: u32,
    /// The register, counted from the function's first, of the first result; the others follow it.
    pub first_result: u32,
    /// First entry in `Aux`.
    pub first_aux: u32,
    /// The number of events that the kernel waits for.
    pub ready_count: u32,
    /// Stream, at most the function's number of kernels.
    pub stream: u32,
    /// Estimated cost, 0 if unknown.
    pub cost: u32,
    /// Number of results.
    pub n_results: u16,
    /// Number of functions among the kernel's `Aux` words.
    pub n_functions: u16,
    /// Index into `Devices`.
    pub device: u16,
    /// [`KERNEL_ANY`], [`KERNEL_OPERAND_INFO`], [`KERNEL_NAMED_ATTRS`].
    pub flags: u16,
}

/// [`KernelRec::flags`]: runs when the first of its data operands is available.
pub const KERNEL_ANY: u16 = 1;
/// [`KernelRec::flags`]: `Aux` holds an [`OperandInfo`] for each operand; without it all are required, in
/// space 0.
pub const KERNEL_OPERAND_INFO: u16 = 2;
/// [`KernelRec::flags`]: attributes are found by name, and `Aux` holds the string id of each name.
pub const KERNEL_NAMED_ATTRS: u16 = 4;

/// The treatment of one operand: an `Aux` word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(4))]
pub struct OperandInfo {
    /// An [`OperandMode`].
    pub mode: u8,
    /// The memory space in which the kernel requires the operand; 0 is the host's.
    pub space: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

byte_enum! {
    /// The effect of an operand on the start of its kernel.
    OperandMode {
        /// Counted until final, passed; errors and deadness go to the results.
        Required = 0,
        /// Not counted, passed in any state.
        Lenient = 1,
        /// Counted until final, not passed; errors and deadness go to the results.
        Order = 2,
        /// Counted until the producing kernel has completed, not passed.
        After = 3,
    }
}

impl OperandInfo {
    /// An operand of this mode that the kernel requires in this memory space.
    pub const fn new(mode: OperandMode, space: u8) -> OperandInfo {
        OperandInfo { mode: mode as u8, space, reserved: [0; 2] }
    }
}

/// One register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RegisterRec {
    /// Type id.
    pub ty: u32,
    /// First entry in `Users`.
    pub first_user: u32,
}

/// One source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct LocationRec {
    /// A [`LocationKind`] in the low 4 bits, above it the 28-bit field `a`.
    pub kind_a: u32,
    /// See [`LocationKind`].
    pub b: u32,
    /// See [`LocationKind`].
    pub c: u32,
}

/// Width of [`LocationRec::kind_a`]'s kind.
pub const LOCATION_KIND_BITS: u32 = 4;
/// Largest number that fits into the field `a` of a location.
pub const LOCATION_A_MAX: u32 = (1 << (32 - LOCATION_KIND_BITS)) - 1;

byte_enum! {
    /// The kind of a location, and the meaning of its fields; fields not listed are zero.
    LocationKind {
        /// No location is known.
        Unknown = 0,
        /// `a` string id of the file, `b` line, `c` column.
        File = 1,
        /// `a` string id of a name, `b` location id or NONE.
        Name = 2,
        /// `b` location id of the callee, `c` of the caller.
        CallSite = 3,
        /// `a` attribute id of the metadata plus one, or 0; `b` first entry in `LocationExtra`, `c` their
        /// number.
        Fused = 4,
        /// `a` string id: MLIR text of a location without a kind of its own.
        Text = 5,
    }
}

/// The end of a location that is a range in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct LocationEndRec {
    /// Location id of the start, of kind [`LocationKind::File`].
    pub location: u32,
    /// Line of the end.
    pub line: u32,
    /// Column of the end.
    pub col: u32,
}

/// The locations of one function, or of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FunctionLocationRec {
    /// Location id of the function, or [`NONE`].
    pub function: u32,
    /// Location id of its return, or [`NONE`].
    pub ret: u32,
}

/// Declares ids: indices into a table of the file.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )* };
}

ids! {
    /// A string.
    StringId = "str";
    /// A type.
    TypeId = "type";
    /// An attribute.
    AttrId = "attr";
    /// A source location.
    LocationId = "loc";
    /// A kernel name: the code of a kernel.
    KernelCode = "code";
    /// A function.
    FunctionId = "fn";
}

const _: () = {
    assert!(size_of::<Header>() == 64 && align_of::<Header>() == 8);
    assert!(size_of::<SectionRec>() == 32 && align_of::<SectionRec>() == 8);
    assert!(size_of::<AttrRec>() == 16 && align_of::<AttrRec>() == 8);
    assert!(size_of::<DictEntry>() == 8 && align_of::<DictEntry>() == 4);
    assert!(size_of::<DenseRec>() == 24 && align_of::<DenseRec>() == 8);
    assert!(size_of::<FunctionRec>() == 44 && align_of::<FunctionRec>() == 4);
    assert!(size_of::<KernelRec>() == 36 && align_of::<KernelRec>() == 4);
    assert!(size_of::<OperandInfo>() == 4 && align_of::<OperandInfo>() == 4);
    assert!(size_of::<RegisterRec>() == 8 && align_of::<RegisterRec>() == 4);
    assert!(size_of::<LocationRec>() == 12 && align_of::<LocationRec>() == 4);
    assert!(size_of::<LocationEndRec>() == 12 && align_of::<LocationEndRec>() == 4);
    assert!(size_of::<FunctionLocationRec>() == 8 && align_of::<FunctionLocationRec>() == 4);
    assert!(
        cfg!(target_endian = "little"),
        "BEF files are read in place, so the machine must be little-endian"
    );
};
