//! The reasons for refusing a file.
//!
//! One type for all refusals: the section, the byte in the file, the value found and the expected one.
//! Validation stops at the first error, since a list of errors would only help a forger.

use crate::layout::{MAJOR, MINOR, SectionId};

/// A refused file: the place and the broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The section in which the rule is broken; `None` for the header and the directory.
    pub section: Option<SectionId>,
    /// The byte offset in the file of the violation.
    pub at: u64,
    /// The rule.
    pub kind: FormatErrorKind,
}

/// The rules that a file can break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The file does not start with the magic bytes.
    NotBef,
    /// The file is in TFRT's classic BEF, format version 0.
    ClassicBef,
    /// The file has a newer major version.
    Version {
        /// The major version in the file.
        major: u8,
        /// The minor version in the file.
        minor: u8,
    },
    /// The file needs features that this reader does not know.
    Features {
        /// The unknown bits.
        unknown: u64,
    },
    /// The address of the bytes is not aligned for reading records in place.
    Unaligned {
        /// The required alignment.
        align: usize,
    },
    /// The bytes end too early.
    Truncated {
        /// The number of bytes needed.
        want: u64,
        /// The number of bytes present.
        have: u64,
    },
    /// Bytes follow the end of the file.
    TrailingData {
        /// Length that the header states.
        file_len: u64,
        /// Length of the given bytes.
        have: u64,
    },
    /// A checksum does not match its bytes.
    Checksum {
        /// The stored checksum.
        stored: u64,
        /// The checksum of the bytes.
        computed: u64,
    },
    /// The section directory is wrong.
    Directory(String),
    /// A mandatory section is missing.
    MissingSection,
    /// A mandatory section has an id that this reader does not know.
    UnknownSection {
        /// Its id.
        id: u32,
    },
    /// An index points outside of its table.
    Index {
        /// The kind of the index.
        what: &'static str,
        /// The index.
        index: u64,
        /// Number of entries.
        limit: u64,
    },
    /// A number differs from the one that the rest of the file implies.
    Mismatch {
        /// The meaning of the number.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The number expected.
        expected: u64,
    },
    /// A code is not one of those that are defined.
    Code {
        /// The meaning of the code.
        what: &'static str,
        /// The code found.
        found: u64,
    },
    /// Bytes that must be zero are not.
    NotZero {
        /// The meaning of the bytes.
        what: &'static str,
    },
    /// A number exceeds a limit of the format.
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// Entries are not in the required order, or not unique.
    Order {
        /// The kind of the entries.
        what: &'static str,
    },
    /// A name occurs twice.
    Duplicate {
        /// The kind of the named entity.
        what: &'static str,
    },
    /// A text that must not be empty is empty.
    Empty {
        /// The meaning of the text.
        what: &'static str,
    },
    /// Bytes are not UTF-8, or cut in the middle of a character.
    Utf8,
    /// A kernel reads a register before it is written.
    ReadBeforeWrite {
        /// The register, counted from the function's first.
        register: u32,
        /// Number of registers written so far.
        written: u32,
    },
    /// A used-by list disagrees with the operands and results.
    Users {
        /// The register, counted from the function's first.
        register: u32,
    },
}

impl FormatError {
    pub(crate) fn new(section: Option<SectionId>, at: u64, kind: FormatErrorKind) -> FormatError {
        FormatError { section, at, kind }
    }
}

impl std::error::Error for FormatError {}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.section {
            Some(section) => write!(f, "section {} at byte {}: {}", section.name(), self.at, self.kind),
            None => write!(f, "BEF file at byte {}: {}", self.at, self.kind),
        }
    }
}

impl std::fmt::Display for FormatErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use FormatErrorKind as K;
        match self {
            K::NotBef => f.write_str("not a BEF file: expected the bytes 0B EF at its start"),
            K::ClassicBef => write!(
                f,
                "this is TFRT's classic BEF, format version 0; expected Befrost's format version {MAJOR} (translate \
                 the MLIR source again)"
            ),
            K::Version { major, minor } => {
                write!(
                    f,
                    "format version {major}.{minor} is newer than {MAJOR}.{MINOR}, the newest that this reader knows"
                )
            }
            K::Features { unknown } => write!(f, "the file needs unknown features {unknown:#x}"),
            K::Unaligned { align } => {
                write!(f, "expected the bytes at an address that is a multiple of {align}")
            }
            K::Truncated { want, have } => write!(f, "truncated: expected {want} bytes, found {have}"),
            K::TrailingData { file_len, have } => {
                write!(f, "expected the file to end after {file_len} bytes, found {have}")
            }
            K::Checksum { stored, computed } => {
                write!(f, "checksum mismatch: expected {stored:016x}, computed {computed:016x}")
            }
            K::Directory(text) => write!(f, "section directory: {text}"),
            K::MissingSection => f.write_str("expected this section, but the file has none"),
            K::UnknownSection { id } => write!(f, "unknown section {id} is not marked as optional"),
            K::Index { what, index, limit } => {
                write!(f, "{what} {index} is out of range: expected less than {limit}")
            }
            K::Mismatch { what, found, expected } => write!(f, "expected {what} {expected}, found {found}"),
            K::Code { what, found } => write!(f, "{found} is not a valid {what}"),
            K::NotZero { what } => write!(f, "expected {what} to be zero"),
            K::Limit { what, found, limit } => write!(f, "{what} is {found}: expected at most {limit}"),
            K::Order { what } => write!(f, "expected {what} in ascending order without duplicates"),
            K::Duplicate { what } => write!(f, "expected another {what}: this one is there already"),
            K::Empty { what } => write!(f, "expected a {what} that is not empty"),
            K::Utf8 => f.write_str("expected valid UTF-8, cut between characters"),
            K::ReadBeforeWrite { register, written } => {
                write!(
                    f,
                    "register {register} is read before it is written: expected one of the first {written}"
                )
            }
            K::Users { register } => {
                write!(f, "the used-by list of register {register} does not match the operands and results")
            }
        }
    }
}
