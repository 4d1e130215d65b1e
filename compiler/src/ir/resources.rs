//! What stands in `{-# ... #-}`: data that is too large or too foreign to stand in the program.
//!
//! `dense_resource<key>` means the blob `key` of dialect `builtin`. Other entries mean nothing to the compiler and are
//! handed through. Groups and entries keep their order; a key that is given again gets the new value.

/// A resource section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// By dialect.
    pub dialects: Vec<Group>,
    /// By the name of whom it is meant for.
    pub external: Vec<Group>,
}

/// Resources of one dialect or tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Whose they are.
    pub name: String,
    /// Keys and values.
    pub entries: Vec<(String, Resource)>,
}

/// A value in a resource section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `true`, `false`.
    Bool(bool),
    /// `"text"`: the bytes.
    Str(Box<[u8]>),
    /// `"0x..."`: the bytes. Those of a dialect begin with their alignment, four bytes.
    Blob(Box<[u8]>),
}
