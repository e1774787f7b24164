//! The demo's world: who there is, which projects, which runs.
//!
//! Each part implements the trait by which the engine asks a host: [`People`] answer
//! [`Permissions`](kindgi_core::host::Permissions) and sign-in, [`Directory`] the question for
//! projects, [`Runs`] the questions for runs, [`Context`] what a run saw besides its input.

mod context;
mod directory;
mod output;
mod people;
mod queue;
mod runs;
mod seed;

pub use context::Context;
pub use directory::Directory;
pub use output::{default_input, default_output};
pub use people::{People, RefusedToken};
pub(crate) use queue::fill as fill_queue;
pub use runs::{FinishedRun, Runs};

use kindgi_core::BoxError;

/// The tenant that almost all of the demo belongs to.
pub const TENANT: &str = "00000000-0000-4000-8000-000000000001";
/// The tenant's first project, with almost all runs.
pub const PROJECT: &str = "00000000-0000-4000-8000-0000000000a1";
/// The tenant's second project.
pub const SECOND_PROJECT: &str = "00000000-0000-4000-8000-0000000000a2";
/// The tenant's organisation, which has both projects.
pub const ORG: &str = "00000000-0000-4000-8000-0000000000e1";
/// Another customer, of whom the first must never see anything.
pub const OTHER_TENANT: &str = "00000000-0000-4000-8000-000000000002";
/// The other tenant's only project.
pub const OTHER_PROJECT: &str = "00000000-0000-4000-8000-0000000000b1";

/// The agent that runs unless another is named.
pub const AGENT: &str = "acme.matcher";
/// The agent's live version.
pub const AGENT_VERSION: &str = "1.2.0";
/// The flow of the flow run.
pub const FLOW: &str = "acme.flow";
/// The flow's live version.
pub const FLOW_VERSION: &str = "2.0.0";

/// The demo's world. Clones share it.
#[derive(Clone, Debug)]
pub struct Demo {
    /// Who may call, and what they may do.
    pub people: People,
    /// Which projects there are.
    pub directory: Directory,
    /// Which runs there are.
    pub runs: Runs,
}

impl Demo {
    /// The world as it is at the start, with so many runs besides the special ones.
    ///
    /// # Errors
    ///
    /// Only when a name of the demo's own breaks a rule of the model.
    pub fn new(runs: u32) -> Result<Self, BoxError> {
        Ok(Self {
            people: People::new()?,
            directory: Directory::new()?,
            runs: seed::runs(runs)?,
        })
    }
}
