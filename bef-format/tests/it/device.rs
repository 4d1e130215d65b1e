//! Names, specs and sets of devices: the laws of the module, on drawn values, and the errors, one by one.

use bef_format::device::{DeviceName, DeviceSet, DeviceSpec, LinkConfig, MAX_DEVICES};
use proptest::prelude::*;

fn spec(text: &str) -> DeviceSpec {
    text.parse().unwrap_or_else(|error| panic!("'{text}': {error}"))
}

/// Few values per field, so that specs often match and collide.
fn specs() -> impl Strategy<Value = DeviceSpec> {
    let fields = [
        prop_oneof![Just(""), Just("/job:*"), Just("/job:localhost"), Just("/job:ps_2")].boxed(),
        prop_oneof![Just(""), Just("/replica:*"), Just("/replica:0"), Just("/replica:2147483647")].boxed(),
        prop_oneof![Just(""), Just("/task:*"), Just("/task:0"), Just("/task:12")].boxed(),
        prop_oneof![
            Just(""),
            Just("/device:*"),
            Just("/device:CPU"),
            Just("/device:*:1"),
            Just("/device:SIM:*"),
            Just("/device:CPU:0"),
            Just("/cpu:1"),
            Just("/gpu:*"),
            Just("/GPU:1"),
        ]
        .boxed(),
    ];
    fields.prop_flat_map(|fields| Just(fields.to_vec()).prop_shuffle()).prop_map(|f| spec(&f.concat()))
}

fn names() -> impl Strategy<Value = DeviceName> {
    let job = prop_oneof![Just("localhost"), Just("ps_2")];
    let kind = prop_oneof![Just("CPU"), Just("GPU"), Just("SIM")];
    let numbers = (prop_oneof![Just(0), Just(i32::MAX)], prop_oneof![Just(0), Just(12)], 0..2u32);
    (job, kind, numbers).prop_map(|(job, kind, (replica, task, index))| {
        let text = format!("/job:{job}/replica:{replica}/task:{task}/device:{kind}:{index}");
        text.parse().expect("a full name")
    })
}

proptest! {
    #[test]
    fn printed_text_parses(spec in specs(), name in names()) {
        prop_assert_eq!(spec.to_string().parse::<DeviceSpec>(), Ok(spec));
        prop_assert_eq!(name.to_string().parse::<DeviceName>(), Ok(name));
    }

    #[test]
    fn merging_is_associative_and_open_is_neutral(a in specs(), b in specs(), c in specs()) {
        prop_assert_eq!(a.within(&b).within(&c), a.within(&b.within(&c)));
        prop_assert_eq!(a.within(&DeviceSpec::default()), a.clone());
        prop_assert_eq!(DeviceSpec::default().within(&a), a);
    }

    #[test]
    fn matching_agrees_with_merging(spec in specs(), name in names()) {
        let changes = spec.within(&name.to_spec()) != name.to_spec();
        prop_assert_eq!(spec.matches(&name), !changes);
        prop_assert!(name.to_spec().matches(&name));
        if spec.matches(&name) {
            prop_assert!(spec.without_index().matches(&name) && spec.without_kind().matches(&name));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[/:*,{}=a-zCPU0-9_. -]{0,60}", other in ".{0,40}") {
        for text in [text, other] {
            if let Ok(spec) = text.parse::<DeviceSpec>() {
                prop_assert_eq!(spec.to_string().parse::<DeviceSpec>(), Ok(spec));
            }
            match text.parse::<DeviceSet>() {
                Ok(set) => prop_assert!(set.devices().len() <= MAX_DEVICES),
                Err(error) => prop_assert!(error.at <= text.len()),
            }
        }
    }
}

#[test]
fn partial_and_old_spellings() {
    assert_eq!(spec("/cpu:1"), spec("/device:CPU:1"));
    assert_eq!(spec("/device:GPU:0/job:a"), spec("/job:a/gpu:0"));
    assert_eq!(spec("/job:*/replica:*/task:*/device:*:*"), spec(""));
    assert!(spec("/device:*").is_open());
    assert_eq!(spec("/task:007/job:w").to_string(), "/job:w/task:7");
    assert_eq!(spec("/device:SIM").within(&spec("/job:w/cpu:1")).to_string(), "/job:w/device:SIM:1");
}

#[test]
fn malformed_specs() {
    let check = |text: &str, want: &str| {
        let error = text.parse::<DeviceSpec>().expect_err(text);
        assert_eq!(error.to_string(), want, "{text}");
    };
    check("CPU:0", "at byte 0: expected '/'");
    check("/", "at byte 1: expected a field: job, replica, task or device");
    check(
        "/tsak:0",
        "at byte 1: 'tsak' is no field; there are job, replica, task, device, and the old cpu and gpu",
    );
    check("/job", "at byte 4: expected ':'");
    check("/job:1a", "at byte 5: expected a job or '*'");
    check("/task:x", "at byte 6: expected a number");
    check("/task:-1", "at byte 6: expected a number");
    check("/task:2147483648", "at byte 6: the number is larger than 2147483647");
    check("/task:99999999999999999999", "at byte 6: the number is larger than 2147483647");
    check("/job:a/job:b", "at byte 7: 'job' is given twice");
    check("/task:*/task:0", "at byte 8: 'task' is given twice");
    check("/device:CPU:0/cpu:0", "at byte 14: 'device' is given twice");
    check("/device:CPU:0 ", "at byte 13: expected '/'");
    check("/device:CPU:", "at byte 12: expected a number");
    check("/gpu", "at byte 4: expected ':'");
    check("/job:ä", "at byte 5: expected a job or '*'");
    let error = "/job:a/device:CPU:0".parse::<DeviceName>().expect_err("not a full name");
    assert_eq!(error.to_string(), "at byte 19: expected a replica: the name of a device has all fields");
}

#[test]
fn sets() {
    let names = |text: &str| -> Vec<String> {
        let set: DeviceSet = text.parse().unwrap_or_else(|error| panic!("'{text}': {error}"));
        set.devices().map(|(name, _)| name.to_string()).collect()
    };
    let local = |device: &str| format!("/job:localhost/replica:0/task:0/device:{device}");
    assert_eq!(names("CPU:2,SIM:1"), [local("CPU:0"), local("CPU:1"), local("SIM:0")]);
    assert_eq!(names("CPU:1{threads=1},CPU:1{threads=2}"), [local("CPU:0"), local("CPU:1")]);
    assert_eq!(
        names("/job:ps/CPU:1,/job:worker/task:1/CPU:1"),
        ["/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"]
    );
    assert_eq!(names("CPU:65535").len(), MAX_DEVICES);
    assert_eq!(DeviceSet::default(), "CPU:1".parse().expect("a set"));
    let set: DeviceSet = "/job:w/task:1/CPU:2,SIM:2".parse().expect("a set");
    assert_eq!(set.matching(&spec("/task:1")).count(), 2);
    assert_eq!(set.matching(&spec("/device:*:1")).count(), 2);
    assert_eq!(set.matching(&spec("/gpu:0")).count(), 0);
}

#[test]
fn properties() {
    let text =
        "SIM:1{memory=64MiB,streams=2,link=5us/10GB,speed=0.5,fail-after=3,fail-copy=4,threads=1,cores=0-1}";
    let set: DeviceSet = text.parse().expect("a set");
    let (_, config) = set.devices().next().expect("a device");
    assert_eq!((config.memory, config.streams, config.threads), (Some(64 << 20), Some(2), Some(1)));
    assert_eq!(config.link, Some(LinkConfig { latency_ns: 5e3, bytes_per_s: 1e10 }));
    assert_eq!((config.speed, config.cores.clone()), (Some(0.5), Some(0..=1)));
    assert_eq!((config.fail_after, config.fail_copy), (Some(3), Some(4)));
}

#[test]
fn malformed_sets() {
    let check = |text: &str, want: &str| {
        let error = text.parse::<DeviceSet>().expect_err(text);
        assert_eq!(error.to_string(), want, "{text}");
    };
    check("", "at byte 0: expected a kind of device");
    check("CPU", "at byte 3: expected ':' and the number of devices");
    check("CPU:0", "at byte 4: expected at least one device");
    check("CPU:1,", "at byte 6: expected a kind of device");
    check("CPU:1 SIM:1", "at byte 5: expected ',' or the end");
    check("CPU:65536", "at byte 4: there are more than 65535 devices");
    check("CPU:65535,SIM:1", "at byte 14: there are more than 65535 devices");
    check("CPU:4294967296", "at byte 4: the number is larger than 4294967295");
    check(
        "CPU:1,/jib:a/CPU:1",
        "at byte 7: 'jib' is no field; there are job, replica, task, device, and the old cpu and gpu",
    );
    check("/job:a/cpu:0/CPU:1", "at byte 0: 'device' is given twice");
    check("CPU:1{}", "at byte 6: expected a property and '='");
    check("CPU:1{threads=1", "at byte 15: expected ',' or '}'");
    check("CPU:1{threads=1,threads=1}", "at byte 16: 'threads' is given twice");
    check("CPU:1{threads=0}", "at byte 14: 'threads' is a positive number without fraction, not '0'");
    check("CPU:1{colour=1}", "at byte 6: 'colour' is no property of a device");
    check("CPU:1{cores=3-1}", "at byte 12: 'cores' is N or N-N, not '3-1'");
    check("SIM:1{memory=1XB}", "at byte 13: 'memory' is a number of bytes, as 64MiB, not '1XB'");
    check(
        "SIM:1{memory=99999999TiB}",
        "at byte 13: 'memory' is a number of bytes, as 64MiB, not '99999999TiB'",
    );
    check("SIM:1{link=5/1GB}", "at byte 11: 'link' is TIME/BYTES, as 5us/10GB, not '5/1GB'");
    check("SIM:1{speed=NaN}", "at byte 12: 'speed' is a positive number, not 'NaN'");
    check("SIM:1{speed=-1}", "at byte 12: 'speed' is a positive number, not '-1'");
}

/// Well-formed specs that stand in front of a malformed field.
const BEFORE: [&str; 6] =
    ["", "/job:a", "/task:12", "/replica:0", "/job:*/task:0", "/replica:1/job:w_2/task:*"];

/// Fields that are malformed, and the byte at which each is.
const FIELDS: [(&str, usize); 24] = [
    ("=x", 0),
    (" ", 0),
    ("\0", 0),
    ("ä", 0),
    (":0", 0),
    ("//device:CPU:0", 1),
    ("/", 1),
    ("/ device:CPU:0", 1),
    ("/0", 1),
    ("/nope:0", 1),
    ("/Device:CPU:0", 1),
    ("/devices:CPU:0", 1),
    ("/device", 7),
    ("/device=CPU:0", 7),
    ("/device:", 8),
    ("/device::0", 8),
    ("/device:0", 8),
    ("/device:CPU:", 12),
    ("/device:CPU:x", 12),
    ("/device:CPU:-1", 12),
    ("/device:CPU:4294967296", 12),
    ("/device:CPU:0/device:CPU:0", 14),
    ("/device:CPU:0 ", 13),
    ("/cpu:x", 5),
];

/// Properties that are malformed, and the byte at which each is.
const PROPERTIES: [(&str, usize); 28] = [
    ("", 0),
    (" ", 0),
    ("=1", 0),
    ("threads", 7),
    ("threads=", 8),
    ("threads=0", 8),
    ("threads=-1", 8),
    ("threads=1.5", 8),
    ("threads=4294967296", 8),
    ("cores=", 6),
    ("cores=a", 6),
    ("cores=2-1", 6),
    ("memory=", 7),
    ("memory=-1", 7),
    ("memory=NaN", 7),
    ("memory=1kX", 7),
    ("memory=99999999999999999999", 7),
    ("streams=0", 8),
    ("link=5us", 5),
    ("link=/", 5),
    ("link=-5us/1GB", 5),
    ("link=5us/0GB", 5),
    ("speed=0", 6),
    ("speed=-1", 6),
    ("speed=inf", 6),
    ("speed=nan", 6),
    ("fail-after=0x1", 11),
    ("colour=blue", 0),
];

/// Over two hundred texts, each wrong in one place that the error names.
#[test]
fn two_hundred_malformed_texts_have_errors_where_they_are_wrong() {
    let mut n = 0;
    for (before, (field, at)) in BEFORE.iter().flat_map(|&before| FIELDS.map(|field| (before, field))) {
        let text = format!("{before}{field}");
        let error = text.parse::<DeviceSpec>().expect_err(&text);
        assert_eq!(error.at, before.len() + at, "'{text}': {error}");
        n += 1;
    }
    for before in ["CPU:1{", "SIM:2{", "CPU:1,SIM:1{streams=3,"] {
        for (property, at) in PROPERTIES {
            // What is given twice is another error.
            if before.contains("streams") && property.starts_with("streams") {
                continue;
            }
            let text = format!("{before}{property}}}");
            let error = text.parse::<DeviceSet>().expect_err(&text);
            assert_eq!(error.at, before.len() + at, "'{text}': {error}");
            n += 1;
        }
    }
    assert!(n > 200, "{n}");
}
