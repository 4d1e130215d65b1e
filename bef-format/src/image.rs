//! A validated file, read in place.
//!
//! ```text
//! bytes ──validate──▶ Image<'bytes> ──▶ FunctionView ──▶ KernelView      borrowed, nothing is decoded
//!                       │    ▲          AttrView, LocationView
//!                 tables│    │image(bytes), no second validation
//!                       ▼    │
//!                      Tables ('static: for the owner of the bytes)
//! ```
//!
//! An `Image` is the proof that `validate` accepted the bytes; only `validate` creates one. Therefore no
//! content of the file can make an accessor fail. An index supplied by the *caller* (`function(i)` with `i`
//! too large) is the caller's bug and panics, as with slices. If the bytes change after validation, in
//! violation of the mapping's contract, accessors return empty values or panic; there is no unsafe code here
//! that could do worse.
//!
//! Not here: the rules (`validate`), the views of functions and kernels (`view`).

use bytemuck::Pod;

use crate::error::{FormatError, FormatErrorKind};
use crate::layout::{
    AttrId, AttrRec, FunctionId, FunctionLocationRec, FunctionRec, Header, KernelCode, KernelRec,
    LocationEndRec, LocationId, LocationRec, NONE, PAYLOAD_ALIGN, RegisterRec, SectionId, StringId,
    TABLE_ALIGN, TypeId,
};
use crate::view::FunctionView;

/// Number of known sections.
pub(crate) const N_SECTIONS: usize = SectionId::ALL.len();

/// The positions of all sections in a validated file, independent of the address of the bytes.
///
/// The owner of the bytes keeps the `Tables` beside them and creates an [`Image`] when needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    pub(crate) header: Header,
    /// The payload's checksum in the directory; not compared with the payload.
    pub(crate) payload_checksum: u64,
    /// Offset and length per section, in the order of [`SectionId::ALL`]; `None` if the file lacks the
    /// section.
    pub(crate) sections: [Option<(usize, usize)>; N_SECTIONS],
}

impl Tables {
    /// The image of `bytes`, which must be the validated bytes.
    ///
    /// Checks only their length, their alignment and that they begin with the same header; takes time
    /// independent of the file's size. Never panics.
    pub fn image<'a>(&self, bytes: &'a [u8]) -> Result<Image<'a>, FormatError> {
        check_alignment(bytes)?;
        if bytes.len() as u64 != self.header.file_len {
            let kind = FormatErrorKind::Truncated { want: self.header.file_len, have: bytes.len() as u64 };
            return Err(FormatError::new(None, 0, kind));
        }
        let found =
            bytes.get(..size_of::<Header>()).and_then(|bytes| bytemuck::try_pod_read_unaligned(bytes).ok());
        if found != Some(self.header) {
            let computed = found.map_or(0, |header: Header| header.checksum);
            let kind = FormatErrorKind::Checksum { stored: self.header.checksum, computed };
            return Err(FormatError::new(None, 0, kind));
        }
        Image::new(*self, bytes)
    }

    /// Offset in the file and length of a section, if the file has it.
    pub fn section(&self, id: SectionId) -> Option<(usize, usize)> {
        let index = SectionId::ALL.iter().position(|&known| known == id)?;
        self.sections[index]
    }

    /// Length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.header.file_len
    }
}

/// Refuses bytes from which records cannot be read in place.
pub(crate) fn check_alignment(bytes: &[u8]) -> Result<(), FormatError> {
    if bytes.as_ptr().addr().is_multiple_of(TABLE_ALIGN) {
        Ok(())
    } else {
        Err(FormatError::new(None, 0, FormatErrorKind::Unaligned { align: TABLE_ALIGN }))
    }
}

/// A validated file. See the module's documentation.
#[derive(Clone, Copy)]
pub struct Image<'a> {
    pub(crate) tables: Tables,
    pub(crate) string_index: &'a [u32],
    pub(crate) string_bytes: &'a [u8],
    pub(crate) types: &'a [StringId],
    pub(crate) kernel_names: &'a [StringId],
    pub(crate) devices: &'a [StringId],
    pub(crate) attributes: &'a [AttrRec],
    pub(crate) attr_data: &'a [u8],
    pub(crate) functions: &'a [FunctionRec],
    pub(crate) function_types: &'a [TypeId],
    pub(crate) io_names: &'a [StringId],
    pub(crate) kernels: &'a [KernelRec],
    pub(crate) operands: &'a [u32],
    pub(crate) aux: &'a [u32],
    pub(crate) registers: &'a [RegisterRec],
    pub(crate) users: &'a [u32],
    pub(crate) results: &'a [u32],
    pub(crate) locations: &'a [LocationRec],
    pub(crate) location_extra: &'a [LocationId],
    pub(crate) kernel_locations: &'a [u32],
    pub(crate) function_locations: &'a [FunctionLocationRec],
    pub(crate) io_locations: &'a [u32],
    pub(crate) aux_names: &'a [StringId],
    pub(crate) ssa_names: &'a [u32],
    pub(crate) ssa_name_bytes: &'a [u8],
    pub(crate) location_ends: &'a [LocationEndRec],
    pub(crate) payload: &'a [u8],
}

impl<'a> Image<'a> {
    /// Casts the sections, without checking their contents.
    pub(crate) fn new(tables: Tables, bytes: &'a [u8]) -> Result<Image<'a>, FormatError> {
        let cx = Cast { tables: &tables, bytes };
        Ok(Image {
            string_index: cx.section(SectionId::StringIndex)?,
            string_bytes: cx.section(SectionId::StringBytes)?,
            types: cx.section(SectionId::Types)?,
            kernel_names: cx.section(SectionId::KernelNames)?,
            devices: cx.section(SectionId::Devices)?,
            attributes: cx.section(SectionId::Attributes)?,
            attr_data: cx.section(SectionId::AttrData)?,
            functions: cx.section(SectionId::Functions)?,
            function_types: cx.section(SectionId::FunctionTypes)?,
            io_names: cx.section(SectionId::IoNames)?,
            kernels: cx.section(SectionId::Kernels)?,
            operands: cx.section(SectionId::Operands)?,
            aux: cx.section(SectionId::Aux)?,
            registers: cx.section(SectionId::Registers)?,
            users: cx.section(SectionId::Users)?,
            results: cx.section(SectionId::Results)?,
            locations: cx.section(SectionId::Locations)?,
            location_extra: cx.section(SectionId::LocationExtra)?,
            kernel_locations: cx.section(SectionId::KernelLocations)?,
            function_locations: cx.section(SectionId::FunctionLocations)?,
            io_locations: cx.section(SectionId::IoLocations)?,
            aux_names: cx.section(SectionId::AuxNames)?,
            ssa_names: cx.section(SectionId::SsaNames)?,
            ssa_name_bytes: cx.section(SectionId::SsaNameBytes)?,
            location_ends: cx.section(SectionId::LocationEnds)?,
            payload: cx.section(SectionId::Payload)?,
            tables,
        })
    }

    /// The tables from which this image can be recreated over the same bytes without validation.
    pub fn tables(&self) -> Tables {
        self.tables
    }

    /// Major and minor version of the file.
    pub fn version(&self) -> (u8, u8) {
        (self.tables.header.major, self.tables.header.minor)
    }

    /// The program that wrote the file.
    pub fn producer(&self) -> &'a str {
        self.string(StringId(self.tables.header.producer))
    }

    /// The module's symbol name, if it has one.
    pub fn module_name(&self) -> Option<&'a str> {
        some(self.tables.header.module_name).map(|id| self.string(StringId(id)))
    }

    /// The module's attribute dictionary, if it has one.
    pub fn module_attrs(&self) -> Option<AttrId> {
        some(self.tables.header.module_attrs).map(AttrId)
    }

    /// The module's source location, if present.
    pub fn module_location(&self) -> Option<LocationId> {
        self.function_locations.last().and_then(|rec| some(rec.function)).map(LocationId)
    }

    /// Number of strings.
    pub fn n_strings(&self) -> u32 {
        self.string_index.len().saturating_sub(1) as u32
    }

    /// A string of the pool; empty for an id of another image.
    pub fn string(&self, id: StringId) -> &'a str {
        text(self.string_index, self.string_bytes, id.index())
    }

    /// The text of each type, by ascending id.
    pub fn types(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        let image = *self;
        image.types.iter().map(move |&id| image.string(id))
    }

    /// The type's MLIR text.
    pub fn type_name(&self, id: TypeId) -> &'a str {
        self.types.get(id.index()).map_or("", |&id| self.string(id))
    }

    /// The kernels' names, by ascending code.
    pub fn kernel_names(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone + use<'a> {
        let image = *self;
        image.kernel_names.iter().map(move |&id| image.string(id))
    }

    /// Number of kernel names.
    pub fn n_kernel_names(&self) -> u32 {
        self.kernel_names.len() as u32
    }

    /// The name of the kernels with this code.
    pub fn kernel_name(&self, code: KernelCode) -> &'a str {
        self.kernel_names.get(code.index()).map_or("", |&id| self.string(id))
    }

    /// Number of devices, at least one.
    pub fn n_devices(&self) -> u16 {
        self.devices.len() as u16
    }

    /// The name of a device; the empty string for device 0, the default host.
    pub fn device_name(&self, device: u16) -> &'a str {
        self.devices.get(usize::from(device)).map_or("", |&id| self.string(id))
    }

    /// Number of functions, anonymous ones included.
    pub fn n_functions(&self) -> u32 {
        self.functions.len().saturating_sub(1) as u32
    }

    /// One function.
    ///
    /// Panics if `index` is not less than [`Image::n_functions`].
    pub fn function(&self, index: u32) -> FunctionView<'_, 'a> {
        assert!(index < self.n_functions(), "function {index} of {}", self.n_functions());
        FunctionView::new(self, index)
    }

    /// All functions, by ascending id.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = FunctionView<'_, 'a>> {
        (0..self.n_functions()).map(|index| FunctionView::new(self, index))
    }

    /// The function with this name; linear in the number of functions. Anonymous functions are never found.
    pub fn find_function(&self, name: &str) -> Option<FunctionId> {
        let found = self.functions().find(|function| !name.is_empty() && function.name() == name);
        found.map(|function| FunctionId(function.index()))
    }

    /// Number of kernels of all functions.
    pub fn n_kernels(&self) -> u32 {
        self.kernels.len().saturating_sub(1) as u32
    }

    /// Number of registers of all functions.
    pub fn n_registers(&self) -> u32 {
        self.registers.len().saturating_sub(1) as u32
    }

    /// Number of operands of all kernels.
    pub fn n_operands(&self) -> usize {
        self.operands.len()
    }

    /// Number of attributes in the pool.
    pub fn n_attrs(&self) -> u32 {
        self.attributes.len() as u32
    }

    /// The payload section: the bytes of all dense attributes. Not touched by validation.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// True if tensors are at 64-byte aligned addresses, so that kernels may use them in place.
    pub fn is_payload_aligned(&self) -> bool {
        self.payload.is_empty() || self.payload.as_ptr().addr().is_multiple_of(PAYLOAD_ALIGN)
    }

    /// True if the file has the names of attributes and of function operands.
    pub fn has_aux_names(&self) -> bool {
        self.tables.section(SectionId::AuxNames).is_some()
    }

    /// True if attributes or function operands are without names.
    pub fn lacks_aux_names(&self) -> bool {
        !self.has_aux_names() && !self.aux.is_empty()
    }

    /// True if the file has the names of SSA values.
    pub fn has_ssa_names(&self) -> bool {
        self.tables.section(SectionId::SsaNames).is_some()
    }

    /// True if the file has locations.
    pub fn has_locations(&self) -> bool {
        self.tables.section(SectionId::Locations).is_some()
    }
}

impl std::fmt::Debug for Image<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image")
            .field("file_len", &self.tables.header.file_len)
            .field("n_functions", &self.n_functions())
            .field("n_kernels", &self.n_kernels())
            .finish_non_exhaustive()
    }
}

/// The casting of sections to slices of records.
struct Cast<'t, 'a> {
    tables: &'t Tables,
    bytes: &'a [u8],
}

impl<'a> Cast<'_, 'a> {
    fn section<T: Pod>(&self, id: SectionId) -> Result<&'a [T], FormatError> {
        debug_assert_eq!(size_of::<T>(), id.record_size(), "record size of section {}", id.name());
        let Some((offset, len)) = self.tables.section(id) else { return Ok(&[]) };
        let error = |kind| FormatError::new(Some(id), offset as u64, kind);
        let have = self.bytes.len().saturating_sub(offset) as u64;
        let slice = offset
            .checked_add(len)
            .and_then(|end| self.bytes.get(offset..end))
            .ok_or_else(|| error(FormatErrorKind::Truncated { want: len as u64, have }))?;
        if slice.is_empty() {
            return Ok(&[]);
        }
        let size = id.record_size() as u64;
        let kind = FormatErrorKind::Mismatch {
            what: "size of the last record",
            found: len as u64 % size,
            expected: 0,
        };
        bytemuck::try_cast_slice(slice).map_err(|_| error(kind))
    }
}

/// `None` for [`NONE`].
pub(crate) fn some(id: u32) -> Option<u32> {
    (id != NONE).then_some(id)
}

/// The text between two neighbouring offsets; empty if they are out of range.
pub(crate) fn text<'a>(index: &[u32], bytes: &'a [u8], i: usize) -> &'a str {
    let (Some(&start), Some(&end)) = (index.get(i), index.get(i.wrapping_add(1))) else { return "" };
    let slice = bytes.get(start as usize..end as usize).unwrap_or(&[]);
    std::str::from_utf8(slice).unwrap_or("")
}

/// The entries `first..end`; empty if they are out of range.
pub(crate) fn span<T>(table: &[T], first: u32, end: u32) -> &[T] {
    table.get(first as usize..end as usize).unwrap_or(&[])
}

/// `n` entries from `first` on; empty if they are out of range.
pub(crate) fn run<T>(table: &[T], first: u32, n: u32) -> &[T] {
    table.get(first as usize..).and_then(|rest| rest.get(..n as usize)).unwrap_or(&[])
}
