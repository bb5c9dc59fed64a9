import { CommandMisused } from '../../terminal/exit-codes.ts'
import { serverAddress } from './address.ts'
import { readProfiles, requireProfile } from './profiles.ts'

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
