//! Validation: the only way from untrusted bytes to an [`Image`].
//!
//! One pass over the tables, each rule in one place, in this order (a later rule may rely on the earlier
//! ones):
//!
//! 1. `container`: alignment of the bytes, magic, version, features, length, directory (order, known ids,
//!    offsets, overlap, padding), checksums of the directory and of every section except the payload.
//! 2. `pools`: strings (UTF-8, sorted, unique), types, kernel names, devices, attributes (kinds, inline
//!    values, data extents, children before parents, depth, node count, payload extents and lengths), module
//!    fields.
//! 3. `code`: functions partition the tables; per function, in one walk over its kernels: codes, devices,
//!    streams, aux words, operands written before they are read, each register written once, ready counts,
//!    used-by lists.
//! 4. `cold`: locations, names of aux words, SSA names.
//!
//! Guarantees: accessors of the image cannot fail. Executing any kernel graph in it cannot leave a table,
//! loop, or wait for an event that cannot come.
//!
//! Not guaranteed: that kernels exist and fit their operands (the runtime resolves signatures); that tensor
//! bytes are meaningful (booleans other than 0 and 1, checksums of the payload: [`verify_payload`]); that
//! calls end, since functions may recurse.
//!
//! Memory: one bit per string, four bytes per register of the largest function, four per attribute and eight
//! per location; never more than a small multiple of the tables. Time is linear in the tables; the payload is
//! not touched.
//!
//! Not here: the list of records (`layout`).

mod code;
mod cold;
mod container;
mod pools;

use bytemuck::Pod;

use crate::error::{FormatError, FormatErrorKind};
use crate::image::{Image, Tables, check_alignment};
use crate::layout::SectionId;

/// Checks that `bytes` are a BEF file that can be read and executed without further checks.
///
/// The address of the bytes must be a multiple of 8; using tensors in place requires 64. The payload's bytes
/// are not read, see [`verify_payload`].
pub fn validate(bytes: &[u8]) -> Result<Image<'_>, FormatError> {
    check_alignment(bytes)?;
    let tables = container::check(bytes)?;
    let image = Image::new(tables, bytes)?;
    let cx = Checker { image: &image };
    pools::check(&cx)?;
    code::check(&cx)?;
    cold::check(&cx)?;
    Ok(image)
}

/// Checks the checksum of the tensor bytes, which `validate` does not read.
pub fn verify_payload(image: &Image<'_>) -> Result<(), FormatError> {
    let stored = image.tables.payload_checksum;
    let computed = xxhash_rust::xxh3::xxh3_64(image.payload());
    if stored == computed {
        return Ok(());
    }
    let at = image.tables().section(SectionId::Payload).map_or(0, |(offset, _)| offset);
    Err(FormatError::new(Some(SectionId::Payload), at as u64, FormatErrorKind::Checksum { stored, computed }))
}

/// The common state of the checks: the image under validation, and constructors of errors.
struct Checker<'i, 'a> {
    image: &'i Image<'a>,
}

impl Checker<'_, '_> {
    fn tables(&self) -> &Tables {
        &self.image.tables
    }

    /// An error at entry `index` of a section.
    #[cold]
    fn refuse(&self, section: SectionId, index: usize, kind: FormatErrorKind) -> FormatError {
        let start = self.tables().section(section).map_or(0, |(offset, _)| offset);
        FormatError::new(Some(section), (start + index * section.record_size()) as u64, kind)
    }

    /// An error in the header.
    #[cold]
    fn refuse_header(&self, at: usize, kind: FormatErrorKind) -> FormatError {
        FormatError::new(None, at as u64, kind)
    }

    /// Refuses an index that is not less than `limit`.
    #[inline(always)]
    fn index(
        &self,
        section: SectionId,
        at: usize,
        what: &'static str,
        index: u32,
        limit: usize,
    ) -> Result<(), FormatError> {
        if (index as usize) < limit { Ok(()) } else { Err(self.bad_index(section, at, what, index, limit)) }
    }

    #[cold]
    fn bad_index(
        &self,
        section: SectionId,
        at: usize,
        what: &'static str,
        index: u32,
        limit: usize,
    ) -> FormatError {
        self.refuse(
            section,
            at,
            FormatErrorKind::Index { what, index: u64::from(index), limit: limit as u64 },
        )
    }

    /// Refuses a number that is not the expected one.
    #[inline(always)]
    fn equal(
        &self,
        section: SectionId,
        at: usize,
        what: &'static str,
        found: u64,
        expected: u64,
    ) -> Result<(), FormatError> {
        if found == expected { Ok(()) } else { Err(self.unequal(section, at, what, found, expected)) }
    }

    #[cold]
    fn unequal(
        &self,
        section: SectionId,
        at: usize,
        what: &'static str,
        found: u64,
        expected: u64,
    ) -> FormatError {
        self.refuse(section, at, FormatErrorKind::Mismatch { what, found, expected })
    }

    /// Refuses string ids that are out of range.
    fn strings<T: Pod + Into<u32>>(&self, section: SectionId, ids: &[T]) -> Result<(), FormatError> {
        let n_strings = self.image.n_strings() as usize;
        for (at, &id) in ids.iter().enumerate() {
            self.index(section, at, "string", id.into(), n_strings)?;
        }
        Ok(())
    }
}

/// A set of small numbers.
struct BitSet(Vec<u64>);

impl BitSet {
    fn new(n: usize) -> BitSet {
        BitSet(vec![0; n.div_ceil(64)])
    }

    /// Adds `i`, which is less than the set's size; false if it was there.
    fn insert(&mut self, i: usize) -> bool {
        let (word, bit) = (&mut self.0[i / 64], 1u64 << (i % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}
