//! Lists and optionals. The gradient of a list is a list, that of an optional an optional. Operators that
//! build one and operators that take one apart are each other's gradients.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::TensorListPushBack => Rule(|g| {
            let [list, item] = pop(g, g.d(), g.x(1));
            g.dx(0, list);
            g.dx(1, item);
        }),
        Op::TensorListPopBack => Rule(|g| {
            let list = g.dy(0).unwrap_or_else(|| {
                let n = g.x(0).un(Op::TensorListLength) - g.int_value(1);
                reserved(g, shape_of_elements(g, g.x(0)), n, g.y(1).element())
            });
            let item = g.dy(1).unwrap_or_else(|| g.y(1).zeros());
            g.dx(0, g.op(Op::TensorListPushBack, &[list, item], &[]));
        }),
        Op::TensorListStack => Rule(|g| {
            let operands = [g.d(), rest(g, g.d())];
            g.dx(0, g.op(Op::TensorListFromTensor, &operands, &[]));
        }),
        Op::TensorListFromTensor => Rule(|g| {
            let x = g.x(0);
            let n = x.sizes().and_then(|sizes| sizes.first().copied()).unwrap_or(-1);
            let operands = [g.d(), rest(g, x)];
            g.dx(0, g.typed(Op::TensorListStack, &operands, &[("num_elements", At::Int(n))], &[x.ty()])[0]);
        }),
        Op::TensorListGetItem => Rule(|g| {
            let (list, at, d) = (g.x(0), g.x(1), g.d());
            let n = list.un(Op::TensorListLength);
            let empty = reserved(g, shape_of_elements(g, list), n, d.element());
            g.dx(0, g.op(Op::TensorListSetItem, &[empty, at, d], &[]));
        }),
        Op::TensorListSetItem => Rule(|g| {
            let (at, item, d) = (g.x(1), g.x(2), g.d());
            if g.wants(0) {
                g.dx(0, g.op(Op::TensorListSetItem, &[d, at, item.zeros()], &[]));
            }
            if g.wants(2) {
                g.dx(2, g.typed(Op::TensorListGetItem, &[d, at, shape(item)], &[], &[item.ty()])[0]);
            }
        }),
        Op::TensorListResize => {
            Rule(|g| g.dx(0, g.d().bin(Op::TensorListResize, g.x(0).un(Op::TensorListLength))))
        }
        Op::TensorListGather => Rule(|g| {
            let n = g.x(0).un(Op::TensorListLength);
            let operands = [g.d(), g.x(1), rest(g, g.d()), n];
            g.dx(0, g.op(Op::TensorListScatterV2, &operands, &[]));
        }),
        Op::TensorListScatter | Op::TensorListScatterV2 => Rule(|g| g.dx(0, gathered(g, 0, 1))),
        Op::TensorListScatterIntoExistingList => Rule(|g| {
            if g.wants(0) {
                let operands = [g.d(), g.x(1).zeros(), g.x(2)];
                g.dx(0, g.op(Op::TensorListScatterIntoExistingList, &operands, &[]));
            }
            if g.wants(1) {
                g.dx(1, gathered(g, 1, 2));
            }
        }),
        Op::TensorListConcat | Op::TensorListConcatV2 => Rule(|g| {
            let Some(d) = g.dy(0) else { return };
            let shape = Val::concat(&[g.ints_value(&[-1]), rest(g, d)], 0);
            g.dx(0, g.op(Op::TensorListSplit, &[d, shape, g.y(1)], &[]));
        }),
        Op::TensorListSplit => Rule(|g| {
            let (x, types) = (g.x(0), [g.x(0).ty(), g.x(2).ty()]);
            let shape = Val::concat(&[g.ints_value(&[-1]), rest(g, x)], 0);
            g.dx(0, g.typed(Op::TensorListConcatV2, &[g.d(), shape, g.x(2)], &[], &types)[0]);
        }),
        // The first elements are those of the first list.
        Op::TensorListConcatLists => Rule(|g| {
            let (n, m) = (g.x(0).un(Op::TensorListLength), g.x(1).un(Op::TensorListLength));
            if g.wants(0) {
                g.dx(0, g.d().bin(Op::TensorListResize, n));
            }
            if g.wants(1) {
                let Some(ty @ Type::Dense(_)) = g.ty("element_dtype") else {
                    return g.refuse("the elements are no tensors");
                };
                let at = n.op(Op::Range, &[n, n + m, g.int_value(1)], &[]);
                let types = [g.tensor_type(None, ty)];
                let operands = [g.d(), at, g.int_value(-1)];
                let items = g.typed(Op::TensorListGather, &operands, &[], &types)[0];
                g.dx(1, g.op(Op::TensorListFromTensor, &[items, rest(g, items)], &[]));
            }
        }),
        Op::OptionalFromValue => Rule(|g| {
            let types: Vec<_> = (0..g.n_x()).map(|i| g.x(i).ty()).collect();
            let items =
                g.typed(Op::OptionalGetValue, &[g.d()], &[("output_shapes", At::Shapes(&types))], &types);
            items.into_iter().enumerate().for_each(|(i, item)| g.dx(i, item));
        }),
        Op::OptionalGetValue => Rule(|g| g.dx(0, g.op(Op::OptionalFromValue, &g.ds(), &[]))),
        _ => return None,
    })
}

/// A list without its last element, and that element, which is like `item`.
fn pop<'g>(g: &'g Vjp<'_, '_>, list: Val<'g>, item: Val<'g>) -> [Val<'g>; 2] {
    let types = [g.tensor_type(Some(&[]), Type::Variant), item.ty()];
    let made = g.typed(Op::TensorListPopBack, &[list, shape(item)], &[], &types);
    [made[0], made[1]]
}

/// The shape that all elements of a list have, as far as the list says.
fn shape_of_elements<'g>(g: &'g Vjp<'_, '_>, list: Val<'g>) -> Val<'g> {
    g.op(Op::TensorListElementShape, &[list], &[("shape_type", At::Type(Type::Dense(DType::I32)))])
}

/// The shape of an element; of a variant a scalar's.
fn shape(item: Val<'_>) -> Val<'_> {
    if item.element() == Type::Variant { item.ints(&[], DType::I32) } else { item.shape() }
}

/// The shape of the slices of a tensor along its first axis.
fn rest<'g>(g: &'g Vjp<'_, '_>, tensor: Val<'g>) -> Val<'g> {
    match tensor.sizes() {
        Some(sizes) => g.ints_value(sizes.get(1..).unwrap_or_default()),
        None => tensor.shape().slice(g.ints_value(&[1]), g.ints_value(&[-1])),
    }
}

/// A list of `n` unset elements.
fn reserved<'g>(g: &'g Vjp<'_, '_>, shape: Val<'g>, n: Val<'g>, ty: Type) -> Val<'g> {
    g.op(Op::TensorListReserve, &[shape, n], &[("element_dtype", At::Type(ty))])
}

/// The gradient of a scatter's elements, which are operand `tensor`: those at the indices in operand `at`.
fn gathered<'g>(g: &'g Vjp<'_, '_>, tensor: usize, at: usize) -> Val<'g> {
    let tensor = g.x(tensor);
    g.typed(Op::TensorListGather, &[g.d(), g.x(at), rest(g, tensor)], &[], &[tensor.ty()])[0]
}
