//! Assets: the files that tables are initialized with become constants of the program.

use befrost_tensor::tf::op::{Op, Type};

use super::origins::Origins;
use crate::dialects::tf;
use crate::import::errors::{self, Refusal};
use crate::import::files::{ModelFiles, checked_name};
use crate::ir::{AttrKind, Module, NewOp, OpId};

/// Replaces the names of files that tables are initialized from by the contents of the files.
pub(super) fn embed(m: &mut Module, files: &dyn ModelFiles) -> Result<(), Refusal> {
    let is_one = |&op: &OpId| tf::operator(m, op) == Some(Op::InitializeTableFromTextFileV2);
    let ops: Vec<OpId> = m.walk(m.top()).filter(is_one).collect();
    if ops.is_empty() {
        return Ok(());
    }
    let origins = Origins::new(m);
    for op in ops {
        let name = file_name(m, &origins, op)?;
        let bytes = checked_name(&name).and_then(|name| files.read(name));
        let bytes = bytes.map_err(|why| errors::asset(&name, &why))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            errors::asset(&name, &format!("it is not valid UTF-8 at byte {}", error.valid_up_to()))
        })?;
        replace(m, op, text);
    }
    Ok(())
}

/// The name of the file that an op reads.
fn file_name(m: &Module, origins: &Origins, op: OpId) -> Result<String, Refusal> {
    let constant = origins.constant(m, m.operand(op, 1)).map(|attr| m.cx.attr(attr));
    match constant {
        Some(AttrKind::DenseStrings { strings, .. }) if strings.len() == 1 => {
            let name = String::from_utf8_lossy(m.cx.string_bytes(strings[0]).unwrap_or_default());
            Ok(name.into_owned())
        }
        _ => Err(errors::asset("", "a table reads a file whose name is not known before the program runs")),
    }
}

/// Replaces the op by one that takes the text itself.
fn replace(m: &mut Module, op: OpId, text: &str) {
    let element = tf::element(&mut m.cx, Type::String, false);
    let ty = m.cx.tensor_type(&[], element);
    let strings = [m.cx.str_attr(text)].into();
    let value = m.cx.attr_id(AttrKind::DenseStrings { ty, splat: false, strings });
    let loc = m.loc(op);
    let constant = m.create_named(Op::Const.op_name(), &[], &[ty], &[("value", value)]);
    m.set_loc(constant, loc);
    m.insert_before(constant, op);
    let mut operands: Vec<_> = m.operands(op).collect();
    operands[1] = m.result(constant, 0);
    let results: Vec<_> = m.results(op).map(|result| m.value_type(result)).collect();
    let (attrs, name) = (m.attrs(op).to_vec(), m.cx.str_id(Op::_InitializeTableFromText.op_name()));
    let name = m.cx.op_name(name);
    let new =
        m.create(NewOp { operands: &operands, results: &results, attrs: &attrs, loc, ..NewOp::new(name) });
    m.insert_before(new, op);
    let pairs: Vec<_> = m.results(op).zip(m.results(new)).collect();
    pairs.into_iter().for_each(|(old, new)| m.replace_all_uses(old, new));
    m.erase(op);
}
