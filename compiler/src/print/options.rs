//! How a module is printed.

/// How to print.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// All ops in generic form.
    pub generic: bool,
    /// Values keep the names of the source.
    pub keep_names: bool,
    /// Print locations, as aliases defined at the end.
    pub locations: bool,
    /// Everything where it is used: no aliases and no resources around it.
    pub local_scope: bool,
}
