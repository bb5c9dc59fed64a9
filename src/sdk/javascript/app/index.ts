/**
 * The client for apps: activates, validates, works offline until a lease or a license file ends, and has one state to show.
 * It runs in browsers, Electron, Node, Deno and workers.
 */
export { isMintedKey } from '../license-key.ts'
export type { ActivationPage } from './browser-activation.ts'
export { type Client, createClient } from './client.ts'
export { type Facts, factsFrom, newFacts, textOf } from './facts.ts'
export type { DeviceIdentity, Identify } from './identity.ts'
export type { Notice } from './notices.ts'
export type { Carried } from './offline/operations.ts'
export type { ClientOptions } from './options.ts'
export type { Clock, Fetch, Storage } from './ports.ts'
export type { Problem, ProblemCode } from './problem.ts'
export type { Proof } from './proof.ts'
export type { Outcome } from './refresh.ts'
export { stateOf } from './state.ts'
export { has, type State, value, type WithdrawnReason } from './states.ts'
export { memoryStorage, webStorage } from './storage.ts'
export type { Release } from './updates.ts'
