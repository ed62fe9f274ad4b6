//! The paths of the registry.

/// The scope of all packages.
const SCOPE: &str = "@pennon/";

/// A resource of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource<'p> {
    /// A package, by its name.
    Package(&'p str),
    /// A version of a package, by its number or a tag.
    Version(&'p str, &'p str),
    /// The tarball of a version.
    Tarball(&'p str, &'p str),
    /// A check that the registry exists.
    Ping,
    /// The owner of the token.
    WhoAmI,
}

impl<'p> Resource<'p> {
    /// Parses a decoded path. Returns none for one with U+0000, which PostgreSQL does not accept in texts.
    pub(super) fn at(path: &'p str) -> Option<Self> {
        if path.contains('\0') {
            return None;
        }
        match path {
            "-/ping" => return Some(Self::Ping),
            "-/whoami" => return Some(Self::WhoAmI),
            _ => {}
        }
        let unscoped = path.strip_prefix(SCOPE)?;
        let Some((base, rest)) = unscoped.split_once('/') else {
            return Some(Self::Package(path));
        };
        let name = path.get(..SCOPE.len().checked_add(base.len())?)?;
        match rest.strip_prefix("-/") {
            Some(file) => {
                let version = file.strip_prefix(base)?.strip_prefix('-')?;
                Some(Self::Tarball(name, version.strip_suffix(".tgz")?))
            }
            None => Some(Self::Version(name, rest)),
        }
    }

    /// Returns the path of a tarball, relative to the registry.
    pub(super) fn of_tarball(name: &str, version: &str) -> String {
        let base = name.strip_prefix(SCOPE).unwrap_or(name);
        format!("{name}/-/{base}-{version}.tgz")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_has_a_path() {
        let name = "@pennon/core";
        assert_eq!(Resource::at(name), Some(Resource::Package(name)));
        for version in ["0.1.0", "1.0.0-rc.1", "latest"] {
            let path = format!("{name}/{version}");
            assert_eq!(Resource::at(&path), Some(Resource::Version(name, version)));
            let path = Resource::of_tarball(name, version);
            assert_eq!(Resource::at(&path), Some(Resource::Tarball(name, version)));
        }
    }

    #[test]
    fn other_paths_have_none() {
        for path in [
            "react",
            "@pennon/\0",
            "@other/core",
            "@pennon/core/-/react-0.1.0.tgz",
            "@pennon/core/-/core-0.1.0.zip",
            "-/npm/v1/security/advisories/bulk",
        ] {
            assert_eq!(Resource::at(path), None, "{path}");
        }
    }
}
