func.func private @step(%x: i32) -> (i32, i1) {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  %yes = tfrt.constant.i1 true
  tfrt.return %y, %yes : i32, i1
}
func.func @endless() -> i32 {
  %x = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @step(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
