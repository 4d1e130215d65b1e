//! The resource section `{-# ... #-}`: large or opaque data outside of the program.
//!
//! `dense_resource<key>` refers to the blob `key` of dialect `builtin`. Other entries are opaque to the
//! compiler and preserved. Groups and entries keep their order; a repeated key gets the new value.

/// A resource section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Resources by dialect.
    pub dialects: Vec<Group>,
    /// Resources by external tool.
    pub external: Vec<Group>,
}

/// Resources of one dialect or tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The dialect or tool.
    pub name: String,
    /// Keys and values.
    pub entries: Vec<(String, ResourceValue)>,
}

/// A value in a resource section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceValue {
    /// `true`, `false`.
    Bool(bool),
    /// `"text"`: the bytes.
    Str(Box<[u8]>),
    /// `"0x..."`: the bytes. A dialect's blob begins with its alignment in four bytes.
    Blob(Box<[u8]>),
}
