/**
 * The client for apps: activates, validates, works offline until a lease ends, and has one state to show. It runs in
 * browsers, Electron, Node, Deno and workers.
 */
export { type Client, type ClientOptions, createClient, type Outcome } from './client.ts'
export { type Facts, factsFrom, newFacts, textOf } from './facts.ts'
export type { DeviceIdentity, Identify } from './identity.ts'
export type { Clock, Fetch, Storage } from './ports.ts'
export type { Problem, ProblemCode } from './problem.ts'
export type { Proof } from './proof.ts'
export { has, memoryStorage, type State, stateOf, value, type WithdrawnReason, webStorage } from './state.ts'
