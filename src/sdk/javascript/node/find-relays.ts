import { resolveSrv } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** What is read to find relays, which tests replace. */
export type Network = {
  env: Readonly<Record<string, string | undefined>>
  /** The file in which a system says how it resolves names; undefined when it has none. */
  resolverFile(): Promise<string | undefined>
  /** @throws Error when there is no such name, or no answer in time */
  resolveSrv(
    name: string,
  ): Promise<readonly { name: string; port: number; priority: number; weight: number }[]>
}

const thisNetwork: Network = {
  env: process.env,
  resolverFile: () => readFile('/etc/resolv.conf', 'utf8').catch(() => undefined),
  resolveSrv,
}

/**
 * Finds the relays of the network that the app runs in: the addresses in the variable `KEYLEDGER_RELAY`, separated by commas,
 * or else what the network says in its DNS, as SRV records of `_keyledger._tcp` in each domain that names are searched in.
 * @param options `domain`: the only one to look in; `protocol`: of relays found in the DNS, `http` by default
 * @returns addresses, the most preferred first; none where nothing names a relay
 * @see https://www.rfc-editor.org/rfc/rfc2782
 */
export async function findRelays(
  { domain, protocol = 'http' }: { domain?: string; protocol?: 'http' | 'https' } = {},
  network: Network = thisNetwork,
): Promise<string[]> {
  const named = (network.env.KEYLEDGER_RELAY ?? '').split(',').map((address) => address.trim())
  const given = named.filter((address) => address !== '')
  if (given.length > 0) return given
  const domains = domain === undefined ? await searchedDomains(network) : [domain]
  for (const each of domains) {
    const records = await network.resolveSrv(`_keyledger._tcp.${each}`).catch(() => [])
    // A target of "." says that there is no such service.
    const found = records.filter(({ name }) => name !== '' && name !== '.')
    const ordered = found.toSorted((one, other) => one.priority - other.priority || other.weight - one.weight)
    if (ordered.length > 0)
      return ordered.map(({ name, port }) => `${protocol}://${name.replace(/\.$/, '')}:${port}`)
  }
  return []
}

/** The domains that short names are searched in; the last line that names some counts, as in resolv.conf(5). */
async function searchedDomains({ env, resolverFile }: Network): Promise<string[]> {
  const lines = ((await resolverFile()) ?? '').split('\n')
  const [, search = ''] =
    lines.map((line) => /^\s*(?:search|domain)\s+(.+)$/.exec(line)).findLast((match) => match) ?? []
  const domains = [env.USERDNSDOMAIN ?? '', ...search.trim().split(/\s+/)]
  return [...new Set(domains.filter((each) => each !== '' && each !== '.'))]
}
