// What is wrong with a literal, a type or a location is said at its place, and what follows it is read.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// -----

// Numbers.

// expected-error @+1 {{an integer cannot have type f32}}
"t.x"() {a = 1 : f32} : () -> ()
// expected-error @+1 {{minus zero cannot have type i8}}
"t.x"() {a = -0 : i8} : () -> ()
// expected-error @+1 {{300 does not fit in type i8}}
"t.x"() {a = 300 : i8} : () -> ()
// expected-error @+1 {{-129 does not fit in type i8}}
"t.x"() {a = -129 : i8} : () -> ()
// expected-error @+1 {{128 does not fit in type si8}}
"t.x"() {a = 128 : si8} : () -> ()
// expected-error @+1 {{-1 does not fit in type ui8}}
"t.x"() {a = -1 : ui8} : () -> ()
// expected-error @+1 {{0x1FF does not fit in type i8}}
"t.x"() {a = 0x1FF : i8} : () -> ()
// expected-error @+1 {{18446744073709551616 does not fit in type i64}}
"t.x"() {a = 18446744073709551616} : () -> ()
// expected-error @+1 {{a number with a point cannot have type i32}}
"t.x"() {a = 1.5 : i32} : () -> ()
// expected-error @+1 {{a number cannot have type none}}
"t.x"() {a = 1 : none} : () -> ()
// expected-error @+1 {{a number cannot have type tensor<2xi32>}}
"t.x"() {a = 1 : tensor<2xi32>} : () -> ()
// expected-error @+1 {{0x100000000 does not fit in type f32}}
"t.x"() {a = 0x100000000 : f32} : () -> ()
// expected-error @+1 {{-0x1 does not fit in type f32}}
"t.x"() {a = -0x1 : f32} : () -> ()
// expected-error @+1 {{340282366920938463463374607431768211456 does not fit in type i128}}
"t.x"() {a = 340282366920938463463374607431768211456 : i128} : () -> ()
// -----

// Strings, words and lists.

// expected-error @+1 {{`tru` is not an attribute}}
"t.x"() {a = tru} : () -> ()
// expected-error @+1 {{unknown escape in this string}}
"t.x"() {a = "a\q"} : () -> ()
// expected-error @+1 {{this string does not end on its line}}
"t.x"() {a = "abc} : () -> ()
// expected-error @+1 {{this `[` is never closed}}
"t.x"() {a = [1, 2} : () -> ()

// -----

// expected-error @+1 {{expected `]`, `,` or `:`, found `2`}}
"t.x"() {a = [1 2]} : () -> ()
// expected-error @+1 {{attribute `a` is given twice}}
"t.x"() {a = {a = 1, a = 2}} : () -> ()
// expected-error @+1 {{expected `}`, `,` or `=`, found `1`}}
"t.x"() {a = {a 1}} : () -> ()
// expected-error @+1 {{expected a word, a string or `}`, found `1`}}
"t.x"() {a = {1 = 2}} : () -> ()
// -----

// Symbols, aliases and what dialects define.

// expected-error @+1 {{expected a name after `@`}}
"t.x"() {a = @} : () -> ()
// expected-error @+1 {{expected a symbol, found `b`}}
"t.x"() {a = @a::b} : () -> ()
// expected-error @+1 {{expected a name after `@`}}
"t.x"() {a = @a::@} : () -> ()
// expected-error @+1 {{`#undefined` is not defined}}
"t.x"() {a = #undefined} : () -> ()
// expected-error @+1 {{`!undefined` is not defined}}
"t.x"() {a = !undefined} : () -> ()
// expected-error @+1 {{the brackets of this `<...>` do not balance}}
"t.x"() {a = #a.b<(>} : () -> ()

// -----

// expected-error @+1 {{the brackets of this `<...>` do not balance}}
"t.x"() {a = !d.t<[)>} : () -> ()

// -----

// Types.

// expected-error @+1 {{an integer type has at most 16777215 bits}}
"t.x"() {a = i16777216} : () -> ()
// expected-error @+1 {{`i` is not an attribute}}
"t.x"() {a = i} : () -> ()
// expected-error @+1 {{`si` is not an attribute}}
"t.x"() {a = si} : () -> ()
// expected-error @+1 {{the parts of a complex number must be integers or floats}}
"t.x"() {a = complex<tensor<2xi32>>} : () -> ()
// expected-error @+1 {{expected a type, found `>`}}
"t.x"() {a = complex<>} : () -> ()
// expected-error @+1 {{this `<` is never closed}}
"t.x"() {a = tuple<i32} : () -> ()

// -----

// expected-error @+1 {{a tensor type has at most one encoding}}
"t.x"() {a = tensor<i32, 1, 2>} : () -> ()
// expected-error @+1 {{a tensor type without rank has no encoding}}
"t.x"() {a = tensor<*xi32, 1>} : () -> ()
// expected-error @+1 {{only vectors have scalable dimensions}}
"t.x"() {a = tensor<[2]xi32>} : () -> ()
// expected-error @+1 {{expected a type, found `3`}}
"t.x"() {a = tensor<2x3>} : () -> ()
// expected-error @+1 {{expected a type, found `-`}}
"t.x"() {a = tensor<-1xi32>} : () -> ()
// expected-error @+1 {{9223372036854775808 is too great for a dimension (63 bits)}}
"t.x"() {a = tensor<9223372036854775808xi32>} : () -> ()
// expected-error @+1 {{this type cannot be that of elements}}
"t.x"() {a = tensor<2xnone>} : () -> ()
// expected-error @+1 {{the dimensions of a vector type are greater than 0}}
"t.x"() {a = vector<0xi32>} : () -> ()
// expected-error @+1 {{a vector type has fixed dimensions}}
"t.x"() {a = vector<?xi32>} : () -> ()
// expected-error @+1 {{this type cannot be that of elements}}
"t.x"() {a = vector<2xcomplex<f32>>} : () -> ()
// expected-error @+1 {{a vector type has fixed dimensions}}
"t.x"() {a = vector<*xi32>} : () -> ()
// expected-error @+1 {{the layout must have as many strides as the memref has dimensions}}
"t.x"() {a = memref<2xi32, strided<[1, 1]>>} : () -> ()
// expected-error @+1 {{the layout must have as many dimensions as the memref}}
"t.x"() {a = memref<2xi32, affine_map<(d0, d1) -> (d0)>>} : () -> ()
// expected-error @+1 {{the layout of a memref stands before its memory space}}
"t.x"() {a = memref<2xi32, 1, affine_map<(d0) -> (d0)>>} : () -> ()
// expected-error @+1 {{a memref without rank has no layout}}
"t.x"() {a = memref<*xi32, strided<[1]>>} : () -> ()
// expected-error @+1 {{a memory space is an integer, a string, a dictionary or an attribute of a dialect}}
"t.x"() {a = memref<2xi32, 1.5>} : () -> ()
// expected-error @+1 {{a memref has one memory space}}
"t.x"() {a = memref<2xi32, 1, 2>} : () -> ()
// expected-error @+1 {{expected a type, found `}`}}
"t.x"() {a = (i32) ->} : () -> ()
// expected-error @+1 {{this `(` is never closed}}
"t.x"() {a = () -> (i32} : () -> ()

// -----

// Dense and sparse tensors, arrays, resources.

// expected-error @+1 {{dense<...> needs a tensor, vector or memref type of fixed shape}}
"t.x"() {a = dense<1> : i32} : () -> ()
// expected-error @+1 {{dense<...> needs a tensor, vector or memref type of fixed shape}}
"t.x"() {a = dense<1> : tensor<?xi32>} : () -> ()
// expected-error @+1 {{dense<...> needs a tensor, vector or memref type of fixed shape}}
"t.x"() {a = dense<1> : tensor<*xi32>} : () -> ()
// expected-error @+1 {{expected 3 elements for this dimension, found 2}}
"t.x"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> ()
// expected-error @+1 {{expected 2 elements for this dimension, found 1}}
"t.x"() {a = dense<[[1], [2, 3]]> : tensor<2x2xi32>} : () -> ()
// expected-error @+1 {{more nested lists than the type has dimensions}}
"t.x"() {a = dense<[1, [2]]> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{expected 2 elements, found none}}
"t.x"() {a = dense<> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{a number with a point cannot have type i32}}
"t.x"() {a = dense<1.5> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{an integer cannot have type f32}}
"t.x"() {a = dense<1> : tensor<2xf32>} : () -> ()
// expected-error @+1 {{expected a number}}
"t.x"() {a = dense<true> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{300 does not fit in type i8}}
"t.x"() {a = dense<300> : tensor<2xi8>} : () -> ()
// expected-error @+1 {{expected two digits for each byte}}
"t.x"() {a = dense<"0x0"> : tensor<2xi8>} : () -> ()
// expected-error @+1 {{the type needs 4 bytes (or 2 for one element that stands for all), found 1}}
"t.x"() {a = dense<"0x00"> : tensor<2xi16>} : () -> ()
// expected-error @+1 {{expected hexadecimal digits only}}
"t.x"() {a = dense<"0xGG"> : tensor<1xi8>} : () -> ()
// expected-error @+1 {{expected a list, a number or a string of bytes `"0x..."`}}
"t.x"() {a = dense<"abc"> : tensor<2xi8>} : () -> ()
// expected-error @+1 {{unexpected complex number}}
"t.x"() {a = dense<(1, 2)> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{an integer cannot have type f32}}
"t.x"() {a = dense<(1.0, 2)> : tensor<2xcomplex<f32>>} : () -> ()
// expected-error @+1 {{expected a complex number as `(re, im)`}}
"t.x"() {a = dense<1.0> : tensor<2xcomplex<f32>>} : () -> ()
// expected-error @+1 {{expected a list, a number or a string of bytes `"0x..."`}}
"t.x"() {a = dense<"a"> : tensor<2xf32>} : () -> ()
// expected-error @+1 {{expected a string}}
"t.x"() {a = dense<["a", 1]> : tensor<2x!d.s>} : () -> ()
// expected-error @+1 {{this type cannot be that of elements}}
"t.x"() {a = dense<1> : tensor<2xmemref<2xi32>>} : () -> ()
// expected-error @+1 {{this `<` is never closed}}
"t.x"() {a = dense<1 : tensor<2xi32>} : () -> ()

// -----

// expected-error @+1 {{expected a list of places with 1 indices each}}
"t.x"() {a = sparse<[[0, 0]], 1> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{the index 3 is outside of the shape}}
"t.x"() {a = sparse<[[3, 0]], 1> : tensor<2x2xi32>} : () -> ()
// expected-error @+1 {{expected 1 values, as many as places, found 2}}
"t.x"() {a = sparse<[[0, 0]], [1, 2]> : tensor<2x2xi32>} : () -> ()
// expected-error @+1 {{expected `,`, found `>`}}
"t.x"() {a = sparse<[[0, 0]]> : tensor<2x2xi32>} : () -> ()
// expected-error @+1 {{expected integers}}
"t.x"() {a = sparse<"0x00", 1> : tensor<2x2xi32>} : () -> ()
// expected-error @+1 {{the index -1 is outside of the shape}}
"t.x"() {a = sparse<-1, 1> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{the elements of array<...> are i1, or integers of whole bytes}}
"t.x"() {a = array<i7: 1>} : () -> ()
// expected-error @+1 {{the elements of array<...> are integers or floats}}
"t.x"() {a = array<tensor<2xi32>: 1>} : () -> ()
// expected-error @+1 {{numbers and words cannot be mixed in array<...>}}
"t.x"() {a = array<i1: true, 1>} : () -> ()
// expected-error @+1 {{only elements of type i1 are `true` and `false`}}
"t.x"() {a = array<i8: true>} : () -> ()
// expected-error @+1 {{300 does not fit in type i8}}
"t.x"() {a = array<i8: 300>} : () -> ()
// expected-error @+1 {{a number with a point cannot have type i8}}
"t.x"() {a = array<i8: 1.5>} : () -> ()
// expected-error @+1 {{an integer cannot have type f32}}
"t.x"() {a = array<f32: 1>} : () -> ()
// expected-error @+1 {{expected `>` or `:`, found `1`}}
"t.x"() {a = array<i8 1>} : () -> ()
// expected-error @+1 {{the elements of array<...> are integers or floats}}
"t.x"() {a = array<none: 1>} : () -> ()
// expected-error @+1 {{dense_resource<...> needs a tensor, vector or memref type}}
"t.x"() {a = dense_resource<k> : i32} : () -> ()
// expected-error @+1 {{expected a word, found `>`}}
"t.x"() {a = dense_resource<> : tensor<2xi32>} : () -> ()
// expected-error @+1 {{expected a word, found a string}}
"t.x"() {a = dense_resource<"k"> : tensor<2xi32>} : () -> ()
// -----

// Affine maps and sets, strides.

// expected-error @+1 {{`d1` is no dimension or symbol of this map or set}}
"t.x"() {a = affine_map<(d0) -> (d1)>} : () -> ()
// expected-error @+1 {{`d0` is declared twice}}
"t.x"() {a = affine_map<(d0, d0) -> (d0)>} : () -> ()
// expected-error @+1 {{expected `(`, found `d0`}}
"t.x"() {a = affine_map<(d0) -> d0>} : () -> ()
// expected-error @+1 {{expected `->`, found `:`}}
"t.x"() {a = affine_map<(d0) : (d0)>} : () -> ()
// expected-error @+1 {{one operand of `*` must be made of constants and symbols only}}
"t.x"() {a = affine_map<(d0, d1) -> (d0 * d1)>} : () -> ()
// expected-error @+1 {{the right operand of `mod` must be made of constants and symbols only}}
"t.x"() {a = affine_map<(d0, d1) -> (d0 mod d1)>} : () -> ()
// expected-error @+1 {{the right operand of `floordiv` must be made of constants and symbols only}}
"t.x"() {a = affine_map<(d0) -> (d0 floordiv d0)>} : () -> ()
// expected-error @+1 {{expected an affine expression, found `)`}}
"t.x"() {a = affine_map<(d0) -> (d0 +)>} : () -> ()
// expected-error @+1 {{9223372036854775808 is too great for a constant (64 bits)}}
"t.x"() {a = affine_map<(d0) -> (9223372036854775808)>} : () -> ()
// expected-error @+1 {{expected the name of a dimension or symbol, found `1`}}
"t.x"() {a = affine_map<(1) -> (1)>} : () -> ()
// expected-error @+1 {{expected `:`, found `->`}}
"t.x"() {a = affine_set<(d0) -> (d0)>} : () -> ()
// expected-error @+1 {{expected `>=`, `<=` or `==`, found `)`}}
"t.x"() {a = affine_set<(d0) : (d0)>} : () -> ()
// expected-error @+1 {{the brackets of this `<...>` do not balance}}
"t.x"() {a = affine_set<(d0) : (d0 > 0)>} : () -> ()

// -----

// expected-error @+1 {{the brackets of this `<...>` do not balance}}
"t.x"() {a = affine_set<(d0) : (d0 >= 0>} : () -> ()

// -----

// expected-error @+1 {{a stride cannot be 0}}
"t.x"() {a = strided<[0]>} : () -> ()
// expected-error @+1 {{expected an integer or `?`, found `a`}}
"t.x"() {a = strided<[a]>} : () -> ()
// expected-error @+1 {{expected `offset`, found `off`}}
"t.x"() {a = strided<[1], off: 1>} : () -> ()
// expected-error @+1 {{expected `[`, found `1`}}
"t.x"() {a = strided<1>} : () -> ()
// expected-error @+1 {{9223372036854775808 is too great for a stride (64 bits)}}
"t.x"() {a = strided<[9223372036854775808]>} : () -> ()
// -----

// Distinct attributes.

// expected-error @+1 {{expected an integer, found `-`}}
"t.x"() {a = distinct[-1]<>} : () -> ()
// expected-error @+1 {{expected `}` or `,`, found `<`}}
"t.x"() {a = distinct<1>} : () -> ()
// expected-error @+1 {{18446744073709551616 is too great for a number (64 bits)}}
"t.x"() {a = distinct[18446744073709551616]<>} : () -> ()
// expected-error @+1 {{`distinct[0]` wraps another attribute elsewhere}}
"t.x"() {a = [distinct[0]<1 : i32>, distinct[0]<2 : i32>]} : () -> ()
// -----

// Locations.

// expected-error @+1 {{expected a word, `#name`, `#name<>` or a string, found `1`}}
"t.x"() {a = loc(1)} : () -> ()
// expected-error @+1 {{expected `:`, found `)`}}
"t.x"() {a = loc("a":1)} : () -> ()
// expected-error @+1 {{expected an integer, found `x`}}
"t.x"() {a = loc("a":x:1)} : () -> ()
// expected-error @+1 {{4294967296 is too great for line and column (32 bits)}}
"t.x"() {a = loc("a":4294967296:1)} : () -> ()
// expected-error @+1 {{expected a word, `#name`, `#name<>` or a string, found `1`}}
"t.x"() {a = loc(fused["a", 1])} : () -> ()
// expected-error @+1 {{expected `[`, found `)`}}
"t.x"() {a = loc(fused<1>)} : () -> ()
// expected-error @+1 {{expected `fused[...]`}}
"t.x"() {a = loc(fuse["a"])} : () -> ()
// expected-error @+1 {{expected a word, found `)`}}
"t.x"() {a = loc(callsite("a"))} : () -> ()
// expected-error @+1 {{expected `callsite(... at ...)`}}
"t.x"() {a = loc(callsite("a" in "b"))} : () -> ()
// expected-error @+1 {{`#undefined` is not defined}}
"t.x"() {a = loc(#undefined)} : () -> ()
// expected-error @+1 {{this `(` is never closed}}
"t.x"() {a = loc("a"} : () -> ()

// -----

// expected-error @+1 {{expected a word, `#name`, `#name<>` or a string, found `)`}}
"t.x"() {a = loc("a"())} : () -> ()
// expected-error @+1 {{expected a word, `#name`, `#name<>` or a string, found `1`}}
"t.x"() : () -> () loc(1)
// expected-error @+1 {{expected `:`, found `)`}}
"t.x"() : () -> () loc("a":1)
// expected-error @+1 {{this `[` is never closed}}
"t.x"() : () -> () loc(fused<1>["a")
// expected-error @+1 {{4294967296 is too great for line and column (32 bits)}}
"t.x"() : () -> () loc("a":4294967296:1)
// expected-error @+1 {{`#undefined` is not defined}}
"t.x"() : () -> () loc(#undefined)
// -----

// Aliases.

// expected-error @+1 {{the alias `#a` refers to itself}}
#a = #a
"t.x"() {a = #a} : () -> ()
// expected-error @+1 {{300 does not fit in type i8}}
#b = 300 : i8
"t.x"() {a = #b} : () -> ()
// expected-error @+1 {{the alias `!t` refers to itself}}
!t = !t
"t.x"() {a = !t} : () -> ()
// expected-error @+1 {{the name of the alias `#c.d` has a `.`}}
#c.d = 1
"t.x"() {a = #c.d} : () -> ()
#e = 1
// expected-error @+1 {{`#e` is defined twice}}
#e = 2
"t.x"() {a = #e} : () -> ()
// expected-error @+1 {{expected `:`, found `)`}}
#f = loc("x":1)
"t.x"() {a = #f} : () -> ()
// expected-error @+1 {{expected a type, found `1`}}
!g = 1
"t.x"() {a = !g} : () -> ()
// expected-error @+1 {{`d1` is no dimension or symbol of this map or set}}
#h = affine_map<(d0) -> (d1)>
"t.x"() {a = #h} : () -> ()
// -----

// Resources.

// expected-error @+1 {{unknown part `x`}}
{-# x: {} #-}

// -----

// expected-error @+1 {{expected `{`, found `1`}}
{-# dialect_resources: 1 #-}

// -----

// expected-error @+1 {{expected a string, `true` or `false`, found `1`}}
{-# dialect_resources: { builtin: { k: 1 } } #-}

// -----

// expected-error @+1 {{a resource of `builtin` is a string of bytes, `"0x..."`}}
{-# dialect_resources: { builtin: { k: "abc" } } #-}

// -----

// expected-error @+1 {{expected two hexadecimal digits for each byte}}
{-# dialect_resources: { builtin: { k: "0x0" } } #-}

// -----

// expected-error @+1 {{the first four bytes of a resource are its alignment, a power of two}}
{-# dialect_resources: { builtin: { k: "0x03000000" } } #-}

// -----

// expected-error @+1 {{the first four bytes of a resource are its alignment, a power of two}}
{-# dialect_resources: { builtin: { k: "0x04" } } #-}

// -----

// expected-error @+1 {{expected two hexadecimal digits for each byte}}
{-# dialect_resources: { builtin: { k: "0x0400000Z" } } #-}

// -----

// expected-error @+1 {{expected a key, found `1`}}
{-# dialect_resources: { builtin: { 1: "0x04000000" } } #-}

// -----

// expected-error @+1 {{expected `:`, found `{`}}
{-# dialect_resources: { builtin { k: "0x04000000" } } #-}

// -----

// expected-error @+1 {{expected `}`, found the end of the section}}
{-# dialect_resources: { builtin: { k: "0x04000000" } #-}

// -----

// expected-error @+1 {{unknown escape in this string}}
{-# external_resources: { tool: { k: "\q" } } #-}

// -----

// expected-error @+1 {{expected `:`, found `}`}}
{-# external_resources: { tool: { k } } #-}

// -----

// expected-error @+1 {{expected `,`, found `external_resources`}}
{-# dialect_resources: {} external_resources: {} #-}

// -----

// expected-error @+1 {{this resource section has no end}}
{-# dialect_resources: {} ,
