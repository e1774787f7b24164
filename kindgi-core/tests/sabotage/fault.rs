//! What may be wrong with a store.

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    VerdictFilterIgnored,
    RemovedTwice,
    MoreIsGuessed,
    ReceiptsOutliveErasure,
    ItemValuesOutliveErasure,
    ClassUncheckedByRecord,
    RemoveReadsThenWrites,
    SupersedeRaces,
    SupersedeForgotten,
    SupersedeInTwoSteps,
    CopyInAStepOfItsOwn,
    ChainBroken,
    CopyOverwritten,
    CreatedAtNotMoved,
    RemovedBeforeItBegan,
    TiesSkipped,
    PageOneShort,
    OrderedByCollation,
    CursorRowMustLive,
    ReadableIgnored,
    ReadableAfterPaging,
    TenantClassesForNobody,
    TenantIgnoredById,
    OperationsShared,
    NamesFolded(Fold),
    ParticipantFolded,
    ReasonTrimmed,
    ReasonWithinBmp,
    JsonRewritten,
    DuplicateKeysDropped,
    OperationForgotten,
    OperationRaces,
    BodyIgnored,
    RefusalKept,
    OperationEnds(i64),
    NameRaces,
    NamesSharedByScopes,
    RevisionUnchecked,
    NameNeverFreed,
    RuleVersionUnchecked,
    RuleVersionRaces,
    RuleVersionNumberedAnew,
    RuleVersionNotMoved,
    StoppedRuleTakesVersions,
    StopRaces,
    StopLeavesOldVersions,
    StopInTwoSteps,
    RuleListedInAStepOfItsOwn,
    StopBeforeItBegan,
    StoppedRuleListed,
    RuleClassUnchecked,
    RuleClassRaces,
    RuleClassCheckedFirst,
    RuleTiesSkipped,
    RulesOrderedByLatest,
    RulesListedAsCreated,
    RulesOfAllProjects,
    RuleProjectIgnoredById,
    CursorRuleMustLive,
    VersionsFromBefore,
    RuleTenantIgnoredById,
    RuleIdsComposed,
    RuleNameTrimmed,
    SampleInHalf,
    RuleOperationForgotten,
    RuleRefusalKept,
    UnjudgedRunNotErased,
    ErasureRaces,
}

/// What doesn't count when names are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fold {
    Case,
    BlanksAtTheEnd,
    Composition,
    The100thCharacter,
    Astral,
}

impl Fold {
    /// What is left of a name.
    pub(crate) fn of(self, name: &str) -> String {
        match self {
            Self::Case => name.to_lowercase(),
            Self::BlanksAtTheEnd => name.trim_end().to_owned(),
            Self::Composition => name.replace("e\u{301}", "\u{e9}"),
            Self::The100thCharacter => name.chars().take(99).collect(),
            Self::Astral => name.replace('\u{1d11e}', ""),
        }
    }
}
