import type { Command } from 'commander'
import { type Client, createClient } from './client.ts'
import { findSession, type Session, type SessionOptions } from './session.ts'

/** The options of every command that calls a server. */
export type RemoteOptions = SessionOptions & { json?: boolean }

/** A signed-in command: its session and a client for it. */
export type Remote = { session: Session; client: Client }

/** @throws CommandMisused when nobody is signed in */
export function openRemote(options: SessionOptions): Remote {
  const session = findSession(options)
  return { session, client: createClient(session.server, { token: session.token }) }
}

/** The words of a command with its profile, which another one may replace as the current one meanwhile. */
export const wordsToRepeat = (words: readonly string[], { profile }: Session): readonly string[] =>
  profile === null || words.includes('--profile') ? words : [...words, '--profile', profile]

/** Adds the options that say which server is called. */
export const sessionOptions = (command: Command): Command =>
  command
    .option('--profile <name>', 'the profile to use; defaults to the current one')
    .option('--insecure-http', 'allow http to another machine: the token crosses the network in the clear')
