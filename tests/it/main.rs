//! Tests of the service over HTTP, in one test binary.

#![expect(
    clippy::expect_used,
    reason = "a failed setup must fail the test and name the line"
)]

mod assets;
mod attached;
mod audit;
mod audit_export;
mod auth;
mod bootstraps;
mod bulk;
mod cli;
mod client_warnings;
mod clients;
mod cloning;
mod compatibility;
mod compression;
mod config;
mod configurations;
mod conventions;
mod copying;
mod dashboard;
mod description;
mod documents;
mod durability;
mod environment_order;
mod environments;
mod evaluate;
mod events;
mod explain;
mod flag_filters;
mod flag_metadata;
mod flag_table;
mod flags;
mod grants;
mod hardening;
mod instances;
mod joint_reverts;
mod live_evaluations;
mod metrics;
mod migrations;
mod monitoring;
mod names;
mod ofrep;
mod outage;
mod outage_under_load;
mod packages;
mod passwords;
mod pooler;
mod postgres_tls;
mod postgres_url;
mod preconditions;
mod previews;
mod previous_keys;
mod products;
mod provisioning;
mod public_environments;
mod public_keys;
mod races;
mod rate_limit;
mod reverts;
mod roles;
mod rollouts;
mod rules;
mod safeguards;
mod secrets;
mod startup;
mod storage;
mod stream;
mod tokens;
mod upgrade_backup;
mod upgrades;
mod usage;
mod users;
mod vectors;
