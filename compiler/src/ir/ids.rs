//! Ids of the entities of a module and of its context's interned contents.

use super::entity::entity;

entity! {
    /// An operation.
    OpId = "op";
    /// A list of operations with arguments.
    BlockId = "^bb";
    /// A list of blocks owned by an operation.
    RegionId = "region";
    /// An SSA value: an op result or a block argument.
    ValueId = "%";
    /// One operand of one operation.
    UseId = "use";
    /// An interned type.
    TypeId = "!";
    /// An interned attribute.
    AttrId = "#";
    /// An interned location.
    LocId = "loc";
    /// An interned string.
    StrId = "str";
    /// An interned op name.
    OpNameId = "name";
}

impl LocId {
    /// `loc(unknown)` in every context.
    pub const UNKNOWN: LocId = LocId(0);
}
