//! What expressions find, group by group.
