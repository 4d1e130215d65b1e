//! Tests of the IR's data structures.

use super::*;

fn i32s(m: &mut Module, n: i64) -> ValueId {
    let value = m.cx.int_attr(KnownType::I32.id(), n);
    let op = m.create_named("tfrt.constant.i32", &[], &[KnownType::I32.id()], &[("value", value)]);
    let body = m.body();
    m.append(body, op);
    m.result(op, 0)
}

fn users(m: &Module, v: ValueId) -> Vec<(u32, usize)> {
    m.users(v).map(|(o, i)| (o.0, i)).collect()
}

#[test]
fn uses_are_newest_first_and_survive_edits() {
    let mut m = Module::new();
    let (a, b) = (i32s(&mut m, 1), i32s(&mut m, 2));
    let add = m.create_named("tfrt.add.i32", &[a, a], &[KnownType::I32.id()], &[]);
    let mul = m.create_named("tfrt.mul.i32", &[a, b], &[KnownType::I32.id()], &[]);
    let body = m.body();
    m.append(body, add);
    m.append(body, mul);
    assert_eq!(users(&m, a), [(mul.0, 0), (add.0, 1), (add.0, 0)]);
    m.set_operand(add, 1, b);
    assert_eq!(users(&m, a), [(mul.0, 0), (add.0, 0)]);
    assert_eq!(users(&m, b), [(add.0, 1), (mul.0, 1)]);
    m.replace_all_uses(a, b);
    assert!(m.is_unused(a));
    assert_eq!(users(&m, b), [(mul.0, 0), (add.0, 0), (add.0, 1), (mul.0, 1)]);
    m.erase(mul);
    assert_eq!(users(&m, b), [(add.0, 0), (add.0, 1)]);
    m.set_operands(add, &[a, b, a]);
    assert_eq!(m.operands(add).collect::<Vec<_>>(), [a, b, a]);
    assert_eq!(users(&m, a), [(add.0, 2), (add.0, 0)]);
}

#[test]
fn order_survives_many_insertions() {
    let mut m = Module::new();
    let first = m.create_named("t.first", &[], &[], &[]);
    let last = m.create_named("t.last", &[], &[], &[]);
    let body = m.body();
    m.append(body, first);
    m.append(body, last);
    for _ in 0..200 {
        let op = m.create_named("t.mid", &[], &[], &[]);
        m.insert_before(op, last);
        let op = m.create_named("t.mid", &[], &[], &[]);
        m.insert_after(op, first);
    }
    let ops: Vec<OpId> = m.ops_in(body).collect();
    assert_eq!(ops.len(), 402);
    assert!(ops.windows(2).all(|w| m.is_before(w[0], w[1]) && !m.is_before(w[1], w[0])));
    m.move_before(last, first);
    assert_eq!(m.first_op(body), Some(last));
    assert!(m.is_before(last, first));
}

#[test]
fn interning_is_structural() {
    let mut m = Module::new();
    let cx = &mut m.cx;
    let (a, b) = (cx.str_id("a"), cx.str_id("b"));
    let one = cx.int_attr(KnownType::I32.id(), 1);
    assert_eq!(cx.dict_attr(&[(a, one), (b, one)]), cx.dict_attr(&[(b, one), (a, one)]));
    assert_eq!(cx.int_attr(KnownType::I8.id(), 255), cx.int_attr(KnownType::I8.id(), -1));
    assert_ne!(cx.int_attr(KnownType::UI8.id(), 255), cx.int_attr(KnownType::I8.id(), -1));
    assert_eq!(cx.int_attr(KnownType::I1.id(), 1), cx.bool_attr(true));
    assert_eq!(cx.opaque_type("tfrt.chain"), KnownType::Chain.id());
}

#[test]
fn erasing_takes_nested_ops_along() {
    let mut m = Module::new();
    let func = m.create_named("func.func", &[], &[], &[]);
    let body = m.body();
    m.append(body, func);
    let region = m.add_region(func);
    let block = m.add_block(region);
    let arg = m.add_arg(block, KnownType::I32.id());
    let inner = m.create_named("tfrt.add.i32", &[arg, arg], &[KnownType::I32.id()], &[]);
    m.append(block, inner);
    let r = m.result(inner, 0);
    let ret = m.create_named("tfrt.return", &[r], &[], &[]);
    m.append(block, ret);
    assert_eq!(m.walk(m.top()).collect::<Vec<_>>(), [m.top(), func, inner, ret]);
    m.erase(func);
    assert!(m.is_erased(inner) && m.is_erased(ret));
    assert_eq!(m.walk(m.top()).count(), 1);
}

#[test]
#[should_panic(expected = "still used")]
fn erasing_what_is_used_panics() {
    let mut m = Module::new();
    let a = i32s(&mut m, 1);
    let add = m.create_named("tfrt.add.i32", &[a, a], &[KnownType::I32.id()], &[]);
    let body = m.body();
    m.append(body, add);
    if let Some(op) = m.defining_op(a) {
        m.erase(op);
    }
}

#[test]
fn symbols_resolve_outwards() {
    let mut m = Module::new();
    let f = m.cx.str_attr("f");
    let func = m.create_named("func.func", &[], &[], &[("sym_name", f)]);
    let body = m.body();
    m.append(body, func);
    let (name, missing) = (m.cx.str_id("f"), m.cx.str_id("g"));
    let mut tables = symbols::SymbolTables::default();
    assert_eq!(tables.resolve(&m, func, name, &[]), Some(func));
    assert_eq!(tables.resolve(&m, func, missing, &[]), None);
    assert_eq!(m.find_function("f"), Some(func));
}
