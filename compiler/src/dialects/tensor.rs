//! `tensor`: upstream's ops between tensors and their elements.
//!
//! Their kernels work on tensors in host memory. Slices, reshapes and ops with regions are not defined.

use super::errors;
use super::{Arity, OpDef, OperandMode, Registry, TypeConstraint as T, TypeFn};
use crate::diag::Diagnostic;
use crate::ir::{KnownType, Module, OpId, TypeKind};

const INDEX: T = T::Is(KnownType::Index);

pub(super) fn ops(r: &mut Registry) {
    let indices = |def: OpDef| def.operand_with("indices", INDEX, Arity::Variadic, OperandMode::Required);
    r.add(
        indices(OpDef::new("tensor.extract", "an element of a tensor").operand("tensor", T::AnyTensor))
            .result("result", T::Any)
            .type_from("result", "tensor", TypeFn::Element)
            .pure()
            .verifier(|m, op, diags| verify_indices(m, op, 0, diags))
            .result_names(|_, _| vec!["extracted".into()])
            .format("$tensor `[` $indices `]` attr-dict `:` type($tensor)")
            .kernel()
            .cost(1),
    );
    r.add(
        indices(
            OpDef::new("tensor.insert", "a tensor with another element in one place")
                .operand("scalar", T::Any)
                .operand("dest", T::AnyTensor),
        )
        .result("result", T::AnyTensor)
        .type_from("scalar", "dest", TypeFn::Element)
        .type_from("result", "dest", TypeFn::Same)
        .pure()
        .verifier(|m, op, diags| verify_indices(m, op, 1, diags))
        .result_names(|_, _| vec!["inserted".into()])
        .format("$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)")
        .kernel(),
    );
    r.add(
        OpDef::new("tensor.from_elements", "a tensor of these elements, in row-major order")
            .operand_with("elements", T::Any, Arity::Variadic, OperandMode::Required)
            .result("result", T::AnyTensor)
            .type_from("elements", "result", TypeFn::Element)
            .pure()
            .verifier(verify_elements)
            .result_names(|_, _| vec!["from_elements".into()])
            .format("$elements attr-dict `:` type($result)")
            .kernel(),
    );
    r.add(
        OpDef::new("tensor.splat", "a tensor of equal elements")
            .operand("input", T::Any)
            .operand_with("dynamicSizes", INDEX, Arity::Variadic, OperandMode::Required)
            .result("aggregate", T::AnyTensor)
            .type_from("input", "aggregate", TypeFn::Element)
            .pure()
            .verifier(|m, op, diags| verify_sizes(m, op, 1, diags))
            .result_names(|_, _| vec!["splat".into()])
            .format("$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)")
            .kernel(),
    );
    r.add(
        OpDef::new("tensor.empty", "a tensor of elements that are not read, here zeros")
            .operand_with("dynamicSizes", INDEX, Arity::Variadic, OperandMode::Required)
            .result("result", T::AnyTensor)
            .pure()
            .verifier(|m, op, diags| verify_sizes(m, op, 0, diags))
            .result_names(|_, _| vec!["empty".into()])
            .format("`(` $dynamicSizes `)` attr-dict `:` type($result)")
            .kernel(),
    );
    r.add(
        OpDef::new("tensor.cast", "the tensor with a type that knows more or less of its shape")
            .operand("source", T::AnyTensor)
            .result("dest", T::AnyTensor)
            .pure()
            .verifier(verify_cast)
            .result_names(|_, _| vec!["cast".into()])
            .format("$source attr-dict `:` type($source) `to` type($dest)")
            .kernel(),
    );
    r.add(
        OpDef::new("tensor.dim", "the size of an axis")
            .operand("source", T::AnyTensor)
            .operand("index", INDEX)
            .result("result", INDEX)
            .pure()
            .result_names(|_, _| vec!["dim".into()])
            .format("attr-dict $source `,` $index `:` type($source)")
            .kernel()
            .cost(1),
    );
    r.add(
        OpDef::new("tensor.rank", "the number of axes")
            .operand("tensor", T::AnyTensor)
            .result("result", INDEX)
            .pure()
            .result_names(|_, _| vec!["rank".into()])
            .format("attr-dict $tensor `:` type($tensor)")
            .kernel()
            .cost(1),
    );
}

/// The sizes of a tensor type; `None` if its rank is unknown.
fn sizes(m: &Module, op: OpId, operand: Option<usize>) -> Option<&[i64]> {
    let value = match operand {
        Some(i) => m.operand(op, i),
        None => m.result(op, 0),
    };
    match m.cx.ty(m.value_type(value)) {
        TypeKind::Tensor { shape, .. } => shape.as_deref(),
        _ => None,
    }
}

/// Checks that there is one index for each axis of the tensor, which is operand number `tensor`.
fn verify_indices(m: &Module, op: OpId, tensor: usize, diags: &mut Vec<Diagnostic>) {
    let Some(rank) = sizes(m, op, Some(tensor)).map(<[i64]>::len) else { return };
    let found = m.n_operands(op) - tensor - 1;
    if found != rank {
        diags.push(errors::index_count(m, op, rank, found));
    }
}

/// Checks that the elements fill the tensor.
fn verify_elements(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let ty = m.value_type(m.result(op, 0));
    let found = m.n_operands(op) as u64;
    if m.cx.n_elements(ty) != Some(found) {
        diags.push(errors::element_count(m, op, ty, found));
    }
}

/// Checks that some tensor has both types of a cast.
fn verify_cast(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let [from, to] = [m.operand(op, 0), m.result(op, 0)].map(|value| m.value_type(value));
    let fits = match (m.cx.ty(from), m.cx.ty(to)) {
        (TypeKind::Tensor { elem, shape, .. }, TypeKind::Tensor { elem: to_elem, shape: to_shape, .. }) => {
            let shapes_fit = shape.as_ref().zip(to_shape.as_ref()).is_none_or(|(from, to)| {
                let fits = |(&from, &to): (&i64, &i64)| from == to || from < 0 || to < 0;
                from.len() == to.len() && from.iter().zip(to).all(fits)
            });
            elem == to_elem && shapes_fit
        }
        _ => true,
    };
    if !fits {
        diags.push(errors::no_cast(m, op, from, to));
    }
}

/// Checks that there is one operand for each unknown size, the first of which is number `first`.
fn verify_sizes(m: &Module, op: OpId, first: usize, diags: &mut Vec<Diagnostic>) {
    let Some(sizes) = sizes(m, op, None) else {
        diags.push(errors::unranked_result(m, op));
        return;
    };
    let want = sizes.iter().filter(|&&size| size < 0).count();
    let found = m.n_operands(op) - first;
    if found != want {
        diags.push(errors::size_count(m, op, want, found));
    }
}
