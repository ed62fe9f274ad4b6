//! `pennon generate`

use std::process::Command;

use pennon_tests::binary;

#[test]
fn every_kind_of_secret_has_its_prefix_and_256_new_bits() {
    for (kind, prefix) in [
        ("sdk-key", "pnk_"),
        ("public-sdk-key", "pnp_"),
        ("personal-access-token", "pnt_"),
        ("jwt-secret", ""),
    ] {
        let generate = || {
            // The command needs neither a database nor a setting.
            let ran = Command::new(binary())
                .env_clear()
                .args(["generate", kind])
                .output();
            let ran = ran.expect("the binary runs");
            assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
            String::from_utf8(ran.stdout).expect("text")
        };
        let (one, other) = (generate(), generate());
        assert_ne!(one, other);
        let bits = one
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix('\n'));
        let bits = bits.expect("the prefix and a newline");
        assert_eq!(bits.len(), 43, "{one}");
        let is_base64url = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        assert!(bits.chars().all(is_base64url), "{one}");
    }
}
