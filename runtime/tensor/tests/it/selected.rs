//! Rows that a program names when it is compiled.

use befrost_tensor::tf::op::{OpRow, are_functions, n_functions, row, rows, selected};

#[test]
fn rows_are_selected_when_the_program_is_compiled() {
    const NAMES: &str = " tf.MatMul tf.Relu  cpu.arena tf.VarHandleOp tfrt.return tf.MatMul tf._Switch ";
    static ROWS: [&OpRow; n_functions(NAMES)] = selected(NAMES);
    assert_eq!(ROWS.map(|row| row.name), ["MatMul", "Relu", "MatMul"]);
    assert!(ROWS.iter().all(|made| std::ptr::eq(*made, row(made.name).unwrap())));
    const { assert!(are_functions("tf.MatMul cpu.arena cpu.scaled_arena") && are_functions("")) };
    for other in ["tf.VarHandleOp", "tfrt.return", "tf", "tf.MatMul tf._Switch"] {
        assert!(!are_functions(other), "{other}");
    }
}

#[test]
fn every_function_of_tensors_can_be_selected() {
    for row in rows() {
        assert_eq!(are_functions(row.op_name), row.has_function(), "{}", row.name);
    }
}

#[test]
#[should_panic(expected = "has no op of one of the names")]
fn a_name_of_no_op_is_refused() {
    n_functions("tf.MatMul tf.MatMull");
}
