//! Diagnostics of training: one function per code.

use crate::diag::Diagnostic;

/// Maximum number of names in a message.
const MAX_NAMED: usize = 40;

fn list(names: &[&str]) -> String {
    let more =
        if names.len() > MAX_NAMED { format!(" and {} more", names.len() - MAX_NAMED) } else { "".into() };
    let shown: Vec<&str> = names.iter().copied().take(MAX_NAMED).collect();
    if shown.is_empty() {
        "there is none".to_owned()
    } else {
        format!("there are {}{more}", shown.join(", "))
    }
}

/// E0909: an optimizer, schedule or option that does not exist, or has a wrong value.
pub(super) fn option(why: &str) -> Diagnostic {
    Diagnostic::error("E0909", why.to_owned())
}

/// E0909: the model was not imported for training.
pub(super) fn no_function(name: &str) -> Diagnostic {
    option(&format!("the model has no function `{name}`: it was not imported for training"))
}

/// E0910: a pattern that matches no variable.
pub(super) fn no_match(what: &str, pattern: &str, variables: &[&str]) -> Diagnostic {
    let message = format!("{what} '{pattern}' matches no variable: {}", list(variables));
    Diagnostic::error("E0910", message)
}

/// E0910: a pattern that matches no constant.
pub(super) fn no_constant(pattern: &str, constants: &[&str]) -> Diagnostic {
    let message =
        format!("--trainable-constants '{pattern}' matches no constant of floats: {}", list(constants));
    Diagnostic::error("E0910", message)
}

/// E0910: nothing is left to train.
pub(super) fn nothing_to_train(variables: &[&str]) -> Diagnostic {
    let d = Diagnostic::error("E0910", "no variable is trained".to_owned());
    let help = match variables {
        [] => "the step reads no variable of floats; --trainable-constants makes variables of constants"
            .to_owned(),
        _ => format!("{}; --trainable and --freeze leave none of them", list(variables)),
    };
    d.help(help)
}

/// E0904: the loss depends on no trained variable.
pub(super) fn unconnected(variables: &[&str]) -> Diagnostic {
    let message = format!(
        "the loss depends on no trained variable by a path of differentiable values: {}",
        list(variables)
    );
    Diagnostic::error("E0904", message)
}

/// E0903: a loss that has no gradient.
pub(super) fn loss(ty: &str) -> Diagnostic {
    Diagnostic::error("E0903", format!("the loss has type {ty}, expected floats"))
}
