import { join } from 'node:path'
import { z } from 'zod'
import { CommandMisused } from '../../terminal/exit-codes.ts'
import { serverAddress } from './address.ts'
import { configDirectory, readPrivate, writePrivate } from './private-file.ts'

const Profile = z.object({
  server: z.string(),
  token: z.string(),
  tenantId: z.string(),
  /** Whether the address may be http on another machine. */
  insecureHttp: z.boolean().default(false),
})
/** A server and a token for it. */
export type Profile = z.infer<typeof Profile>

const Profiles = z.object({
  /** The profile of commands that name none. */
  current: z.string().nullable(),
  profiles: z.record(z.string(), Profile),
})
export type Profiles = z.infer<typeof Profiles>

export const defaultProfile = 'default'

const profilesFile = (): string => join(configDirectory(), 'profiles.json')

/** @throws CommandMisused when others may read the file, or it is damaged */
export function readProfiles(): Profiles {
  const path = profilesFile()
  const text = readPrivate(path)
  if (text === undefined) return { current: null, profiles: {} }
  const parsed = Profiles.safeParse(jsonIn(text))
  if (parsed.success) return parsed.data
  throw new CommandMisused(
    `${path} is damaged. Remove it, and sign in again: keyledger login --server <address>`,
  )
}

/** Adds or replaces a profile, which becomes the current one. */
export function saveProfile(name: string, profile: Profile): void {
  const { profiles } = readProfiles()
  write({ current: name, profiles: { ...profiles, [name]: profile } })
}

/** Removes a profile. Another one becomes the current one only by its name. */
export function removeProfile(name: string): void {
  const { current, profiles } = readProfiles()
  const { [name]: _, ...others } = profiles
  write({ current: current === name ? null : current, profiles: others })
}

/** Makes a profile the current one. @throws CommandMisused when there is none of this name */
export function useProfile(name: string): void {
  const { profiles } = readProfiles()
  requireProfile(profiles, name)
  write({ current: name, profiles })
}

/** @throws CommandMisused when there is none of this name */
export function requireProfile(profiles: Profiles['profiles'], name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile) return profile
  const names = Object.keys(profiles)
  const known = names.length === 0 ? 'There are none' : `There are ${names.join(', ')}`
  throw new CommandMisused(
    `There is no profile ${name}. ${known}. Sign in: keyledger login --server <address> --profile ${name}`,
  )
}

function write(profiles: Profiles): void {
  writePrivate(profilesFile(), `${JSON.stringify(profiles, null, 2)}\n`)
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The server that a command calls, and with which token. */
export type Session = {
  server: string
  token: string
  /** Null with a token from the environment. */
  profile: string | null
}

export type SessionOptions = { profile?: string; insecureHttp?: boolean }

/**
 * Finds the server and the token of a command, in this order:
 *
 * | what is given       | what is used                                                      |
 * | ------------------- | ----------------------------------------------------------------- |
 * | `--profile`         | that profile                                                      |
 * | `KEYLEDGER_TOKEN`   | that token, at `KEYLEDGER_SERVER`                                 |
 * | `KEYLEDGER_PROFILE` | that profile                                                      |
 * | `KEYLEDGER_SERVER`  | the profile of that server, the current one first                 |
 * | nothing             | the current profile                                               |
 *
 * @throws CommandMisused when nobody is signed in
 */
export function findSession(options: SessionOptions): Session {
  const insecureHttp = options.insecureHttp ?? false
  const { KEYLEDGER_TOKEN: token, KEYLEDGER_SERVER: server, KEYLEDGER_PROFILE: named } = given(process.env)
  if (options.profile === undefined && token !== undefined) {
    if (server !== undefined) return { server: serverAddress(server, { insecureHttp }), token, profile: null }
    throw new CommandMisused('KEYLEDGER_TOKEN is set without a server. Set KEYLEDGER_SERVER to its address.')
  }
  const name = options.profile ?? named ?? profileAt(server, insecureHttp)
  const profile = requireProfile(readProfiles().profiles, name)
  serverAddress(profile.server, { insecureHttp: profile.insecureHttp || insecureHttp })
  return { server: profile.server, token: profile.token, profile: name }
}

/** The current profile, or the one of a server. @throws CommandMisused when there is none */
function profileAt(server: string | undefined, insecureHttp: boolean): string {
  const { current, profiles } = readProfiles()
  if (server === undefined) {
    if (current !== null) return current
    const names = Object.keys(profiles)
    throw new CommandMisused(
      names.length === 0
        ? 'You are not signed in to a server. Sign in: keyledger login --server <address>'
        : `No profile is in use. Choose one of ${names.join(', ')}: keyledger profiles use <name>`,
    )
  }
  const address = serverAddress(server, { insecureHttp })
  const found = Object.keys(profiles).filter((name) => profiles[name]?.server === address)
  const chosen = found.find((name) => name === current) ?? found[0]
  if (chosen !== undefined) return chosen
  throw new CommandMisused(
    `You are not signed in to ${address}, which KEYLEDGER_SERVER names. Sign in: keyledger login --server ${address}`,
  )
}

/** An empty variable counts as absent. */
const given = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
