//! Pictures in files: decoding and encoding.

use super::super::infer::strings;
use super::super::row::{Cost, values};
use super::operators::operators;

operators! { 22:
    /// The samples of a PNG or JPEG.
    DecodePng "contents:string -> image:dtype; channels:int=0 dtype:type=uint8"
        => values(strings::picture, Cost::PerResult(32)).no_gradient();
    /// The samples of a JPEG or PNG.
    DecodeJpeg
        "contents:string -> image:uint8; acceptable_fraction:float=1.0 channels:int=0 dct_method:string='' \
         fancy_upscaling:bool=true ratio:int=1 try_recover_truncated:bool=false"
        => values(strings::picture, Cost::PerResult(32)).no_gradient();
    /// The samples of a window of a JPEG or PNG.
    DecodeAndCropJpeg
        "contents:string crop_window:int32 -> image:uint8; acceptable_fraction:float=1.0 channels:int=0 \
         dct_method:string='' fancy_upscaling:bool=true ratio:int=1 try_recover_truncated:bool=false"
        => values(strings::picture, Cost::PerResult(32)).no_gradient();
    /// The samples of a BMP.
    DecodeBmp "contents:string -> image:uint8; channels:int=0"
        => values(strings::picture, Cost::PerResult(4)).no_gradient();
    /// The samples of a PNG, JPEG or BMP, in another type if wanted.
    DecodeImage
        "contents:string -> image:dtype; channels:int=0 dtype:type=uint8 expand_animations:bool=true"
        => values(strings::picture, Cost::PerResult(32)).no_gradient();
    /// Height, width and number of channels of a JPEG.
    ExtractJpegShape "contents:string -> image_shape:output_type; output_type:type=int32"
        => values(strings::jpeg_shape, Cost::Moves).no_gradient();
    /// Images as PNGs.
    EncodePng "image:T -> contents:string; T:type=uint8 compression:int=-1"
        => values(strings::encoded, Cost::PerOperand(64)).no_gradient();
}
