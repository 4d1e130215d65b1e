func.func @one() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}
