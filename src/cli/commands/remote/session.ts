import { hostname } from 'node:os'
import type { Command } from 'commander'
import { z } from 'zod'
import { Scope } from '../../../domain/tokens/events.ts'
import { CommandMisused } from '../../../terminal/exit-codes.ts'
import { fields, type OutputOptions, print, printToStderr, table } from '../../../terminal/output.ts'
import { topCommand } from '../../context.ts'
import { serverAddress } from '../../remote/address.ts'
import { openRemote, type RemoteOptions, sessionOptions } from '../../remote/build.ts'
import { createClient } from '../../remote/client.ts'
import { RemoteError } from '../../remote/errors.ts'
import { awaitToken, startLogin } from '../../remote/login.ts'
import {
  defaultProfile,
  type Profile,
  readProfiles,
  removeProfile,
  requireProfile,
  saveProfile,
  useProfile,
} from '../../remote/profiles.ts'

/** `keyledger login`, `logout`, `whoami` and `profiles`: which server the other commands call, and as whom. */
export function sessionCommands(program: Command): void {
  topCommand(program, 'login')
    .requiredOption('--server <address>', 'for example https://keyledger.example.com')
    .option('--profile <name>', 'the name of the profile to save the sign-in in', defaultProfile)
    .option(
      '--scopes <list>',
      `comma-separated, of ${Scope.options.join(', ')}; defaults to the management scopes`,
    )
    .option('--name <text>', 'shown to the person who approves', `keyledger on ${hostname()}`)
    .option('--insecure-http', 'allow http to another machine: the token crosses the network in the clear')
    .option('--json', 'print {profile, server, tenantId, scopes, expiresAt}')
    .action(login)

  topCommand(program, 'logout')
    .option('--profile <name>', 'defaults to the current profile')
    .option('--json', 'print {profile, revoked}')
    .action(logout)

  sessionOptions(topCommand(program, 'whoami'))
    .option('--json', 'print the answer of GET /v1/tokens/verify')
    .action(whoami)

  profileCommands(program)
}

type LoginOptions = OutputOptions & {
  server: string
  profile: string
  scopes?: string
  name: string
  insecureHttp?: boolean
}

async function login(options: LoginOptions): Promise<void> {
  const insecureHttp = options.insecureHttp ?? false
  const server = serverAddress(options.server, { insecureHttp })
  const scopes = options.scopes === undefined ? undefined : scopesIn(options.scopes)
  const former = readProfiles().profiles[options.profile]
  // A wrong address is answered soon.
  const codes = await startLogin(createClient(server, { retries: 1 }), options.name.slice(0, 100), scopes)
  printToStderr(
    [
      `Open ${codes.verification_uri_complete}`,
      `and check that it shows this code: ${codes.user_code}`,
      `Waiting for the approval, at most ${Math.round(codes.expires_in / 60)} minutes. Press Ctrl-C to stop.`,
    ].join('\n'),
  )
  const granted = await awaitToken(createClient(server), codes)
  const { tenant_id: tenantId, access_token: token, expires_at: expiresAt } = granted
  saveProfile(options.profile, { server, token, tenantId, insecureHttp })
  // The replaced token would stay valid without an owner.
  if (former) await revoke(former)
  const shown = { profile: options.profile, server, tenantId, scopes: granted.scopes, expiresAt }
  print(options, shown, () => [
    `Signed in to ${tenantId} at ${server}, as the profile ${options.profile}.`,
    `Scopes: ${granted.scopes.join(', ')}`,
    ...(expiresAt === null ? [] : [`The sign-in expires at ${expiresAt}.`]),
  ])
}

function scopesIn(list: string): string[] {
  const parsed = z.array(Scope).min(1).safeParse(list.split(','))
  if (parsed.success) return parsed.data
  throw new CommandMisused(`--scopes ${list} is not a list of scopes. They are ${Scope.options.join(', ')}.`)
}

async function logout(options: OutputOptions & { profile?: string }): Promise<void> {
  const { current, profiles } = readProfiles()
  const name = options.profile ?? current
  if (name === null) throw new CommandMisused('You are not signed in to a server.')
  const profile = requireProfile(profiles, name)
  const revoked = await revoke(profile)
  removeProfile(name)
  print(options, { profile: name, revoked }, () => [
    revoked
      ? `Signed out of ${profile.server}. The token is revoked.`
      : `Removed the profile ${name} from this machine.`,
  ])
  if (!revoked) {
    printToStderr(
      `${profile.server} did not confirm that the token is revoked. If someone else may have it, revoke it in the dashboard under API tokens.`,
    )
  }
}

/** @returns whether the server no longer accepts the token */
async function revoke({ server, token }: Profile): Promise<boolean> {
  try {
    await createClient(server, { token, retries: 1, timeLimitMs: 10_000 }).call({
      method: 'POST',
      path: '/v1/logout',
    })
    return true
  } catch (error) {
    return error instanceof RemoteError && error.status === 401
  }
}

async function whoami(options: RemoteOptions): Promise<void> {
  const { session, client } = openRemote(options)
  const { body } = await client.call({ method: 'GET', path: '/v1/tokens/verify' })
  const about = z.record(z.string(), z.unknown()).parse(body)
  const profile = session.profile ?? 'none, the token is from KEYLEDGER_TOKEN'
  print(options, body, () => fields({ server: session.server, profile, ...about }))
}

function profileCommands(program: Command): void {
  const profiles = topCommand(program, 'profiles')
  profiles
    .command('list', { isDefault: true })
    .description('List profiles; no token is shown')
    .option('--json', 'print an array of {profile, server, tenantId, current}')
    .action((options: OutputOptions) => {
      const { current, profiles: known } = readProfiles()
      const views = Object.entries(known).map(([profile, { server, tenantId }]) => {
        return { profile, server, tenantId, current: profile === current }
      })
      print(options, views, () =>
        views.length === 0
          ? ['No profiles. Sign in: keyledger login --server <address>']
          : table([
              ['PROFILE', 'SERVER', 'TENANT', ''],
              ...views.map((view) => [
                view.profile,
                view.server,
                view.tenantId,
                view.current ? 'in use' : '',
              ]),
            ]),
      )
    })
  profiles
    .command('use <name>')
    .description('Use this profile when a command names none')
    .action((name: string) => {
      useProfile(name)
      printToStderr(`The profile ${name} is in use.`)
    })
}
