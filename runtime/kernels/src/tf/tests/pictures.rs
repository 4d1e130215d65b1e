//! Pictures that are refused, and damaged ones. TensorFlow's results are in `testdata/graphdefs`.

use befrost_kernel_api::Value;
use befrost_tensor::Shape;
use befrost_tensor::mem::Malloc;

use super::super::strings::{strings, strings_in};
use super::{Caller, context, shown, value};

fn file(bytes: &[u8]) -> Value {
    strings(&Shape::scalar(), &[bytes], &Malloc::shared()).unwrap()
}

fn png_of(image: &str) -> Vec<u8> {
    let made = Caller(context()).call("EncodePng", &[&value(image)]);
    strings_in(&made).unwrap().read().unwrap().at(0).unwrap().to_vec()
}

/// A gray JPEG of 8 by 8 pixels, all of which are 200.
const JPEG: &[u8] = include_bytes!("gray.jpg");

fn refused(op: &str, more: &[(&'static str, &'static str)], bytes: &[u8], words: &str) {
    let operands = match op {
        "DecodeAndCropJpeg" => vec![file(bytes), value("i32[4]:0,0,9,1")],
        _ => vec![file(bytes)],
    };
    let error =
        Caller(context()).with(op, more, &operands).err().unwrap_or_else(|| panic!("{op} accepts it"));
    assert!(error.to_string().contains(words), "{op}: {error}");
}

const DTYPE: &[(&str, &str)] = &[("dtype", "ui8")];

#[test]
fn pictures_of_another_kind_are_refused() {
    let png = png_of("ui8[1x2x3]:1,2,3,4,5,6");
    let bmp = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0";
    let bmp = [&bmp[..], &[0; 24], &[3, 2, 1, 0]].concat();
    let c = Caller(context());
    let decode = |op, bytes: &[u8]| c.with(op, DTYPE, &[file(bytes)]).map(|made| shown(&made[0]));
    assert_eq!(decode("DecodePng", &png).unwrap(), shown(&value("ui8[1x2x3]:1,2,3,4,5,6")));
    assert_eq!(decode("DecodeJpeg", &png).unwrap(), shown(&value("ui8[1x2x3]:1,2,3,4,5,6")));
    assert_eq!(decode("DecodeImage", &bmp).unwrap(), shown(&value("ui8[1x1x3]:1,2,3")));
    assert_eq!(shown(&c.call("ExtractJpegShape", &[&file(JPEG)])), shown(&value("i32[3]:8,8,1")));
    for op in ["DecodePng", "DecodeJpeg", "DecodeBmp", "DecodeImage", "DecodeAndCropJpeg", "ExtractJpegShape"]
    {
        refused(op, DTYPE, b"", op);
        refused(op, DTYPE, b"GIF89a.........", op);
    }
    refused("DecodePng", DTYPE, &bmp, "a BMP, which DecodeBmp");
    refused("DecodeBmp", DTYPE, &png, "unknown picture format");
    refused("DecodeBmp", &[("channels", "1")], &bmp, "0, 3 or 4 for BMP");
    refused("DecodeBmp", DTYPE, &bmp[..57], "a BMP of 57 bytes for 1 by 1 pixels");
    refused("DecodeJpeg", &[("channels", "4")], JPEG, "JPEG does not support 4 channels");
    refused("DecodeAndCropJpeg", DTYPE, JPEG, "is not in 8 by 8 pixels");
    refused("ExtractJpegShape", DTYPE, &png, "invalid JPEG");
    let images = |image: &str, words: &str| {
        let error = c.with("EncodePng", &[], &[value(image)]).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    images("ui8[1x1x5]:1,2,3,4,5", "must have 1, 2, 3, or 4 channels");
    images("ui8[0x1x3]:", "without pixels");
    images("ui8[1x3]:1,2,3", "expected rank 3");
    images("f32[1x1x1]:1", "f32");
}

/// The number of pixels is read before memory is taken for them.
#[test]
fn small_files_of_huge_pictures_are_refused() {
    let mut png = png_of("ui8[1x1x1]:7");
    png[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let mut crc = flate2::Crc::new();
    crc.update(&png[12..29]);
    png[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    refused("DecodePng", DTYPE, &png, "pixels are more than");
    let bmp = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\xff\xff\xff\x7f\0\0\0\x80\x01\0\x18\0";
    refused("DecodeBmp", DTYPE, &[&bmp[..], &[0; 24], &[3, 2, 1, 0]].concat(), "pixels are more than");
    // The size stands behind the marker ff c0.
    let at = JPEG.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    let mut jpeg = JPEG.to_vec();
    jpeg[at + 5..at + 9].fill(0xff);
    refused("DecodeJpeg", DTYPE, &jpeg, "pixels are more than");
}

#[test]
fn damaged_pictures_are_answered() {
    let c = Caller(context());
    let png = png_of("ui16[2x2x4]:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    for whole in [&png[..], JPEG] {
        for at in 0..whole.len() {
            let mut changed = whole.to_vec();
            let mut files = vec![whole[..at].to_vec()];
            for byte in [0, 1, 0x7f, 0xff] {
                changed[at] = byte;
                files.push(changed.clone());
            }
            for bytes in files {
                for (op, more) in
                    [("DecodeImage", DTYPE), ("DecodeJpeg", &[("try_recover_truncated", "true")])]
                {
                    if let Err(error) = c.with(op, more, &[file(&bytes)]) {
                        assert!(error.to_string().len() > 10, "{op}: {error}");
                    }
                }
            }
        }
    }
}
