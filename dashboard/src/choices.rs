//! Choices of the visitor that are named in forms, addresses and cookies.

/// Declares an enum of choices, each with the value that names it.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $value:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// All choices, in the order in which forms offer them.
            $visibility const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// Returns the value that names the choice.
            $visibility const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $value,)+ }
            }

            /// Returns the choice with this value.
            $visibility fn parse(value: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|each| each.as_str() == value)
            }
        }
    };
}

pub(crate) use choices;
