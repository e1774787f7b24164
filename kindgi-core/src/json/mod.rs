//! JSON kept verbatim.
