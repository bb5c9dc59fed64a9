import { readFileSync } from 'node:fs'
import { type Credentials, type EndPoint, LEADER, type NodePreference } from '@eventstore/db-client'
import { parseConnectionString } from '@eventstore/db-client/dist/Client/parseConnectionString.js'
import { type ChannelCredentials, credentials } from '@grpc/grpc-js'

/** Where the event store is and how to speak to it, read from its address. */
export type StoreAddress = {
  /** The one node to connect to; undefined: one of the seeds says which. */
  target: string | undefined
  /** Nodes, or names of several, that are asked for the members of the cluster. */
  seeds: readonly string[]
  preference: NodePreference
  insecure: boolean
  channelCredentials: ChannelCredentials
  /** The authority that is trusted; undefined: those that Node knows. */
  certificateAuthority: Buffer | undefined
  user: Credentials | undefined
  connectionName: string | undefined
  /** A connection on which no ping was answered for both together is given up; undefined: no pings. */
  keepAlive: { intervalMs: number; timeoutMs: number } | undefined
  gossipTimeoutMs: number
}

const defaultKeepAliveMs = 2000
const defaultGossipTimeoutMs = 1000

/**
 * Reads an address: `esdb://host:port?tls=false`, `esdb://host,host` or `esdb+discover://host` for a cluster, or
 * `unix:<path>` for the embedded store.
 * @throws Error for an address that cannot be read, and for certificate files that are not there
 */
export function parseAddress(url: string): StoreAddress {
  // The client's own connection strings know hosts and ports alone.
  if (url.startsWith('unix:')) return { ...plain, target: url, seeds: [] }
  const options = parseConnectionString(url)
  const nodes = options.hosts.map(nameOf)
  const isCluster = options.dnsDiscover || nodes.length > 1
  const insecure = options.tls === false
  const certificateAuthority = contentOf(options.tlsCAFile)
  const { keepAliveInterval = defaultKeepAliveMs, keepAliveTimeout = defaultKeepAliveMs } = options
  return {
    target: isCluster ? undefined : nodes[0],
    seeds: options.dnsDiscover ? nodes.slice(0, 1) : nodes,
    preference: options.nodePreference ?? LEADER,
    insecure,
    channelCredentials: insecure
      ? credentials.createInsecure()
      : credentials.createSsl(
          certificateAuthority,
          contentOf(options.userKeyFile),
          contentOf(options.userCertFile),
        ),
    certificateAuthority: certificateAuthority ?? undefined,
    user: options.defaultCredentials,
    connectionName: options.connectionName,
    keepAlive:
      keepAliveInterval < 0 || keepAliveTimeout < 0
        ? undefined
        : { intervalMs: keepAliveInterval, timeoutMs: keepAliveTimeout },
    gossipTimeoutMs:
      options.gossipTimeout === undefined ? defaultGossipTimeoutMs : options.gossipTimeout * 1000,
  }
}

const plain = {
  preference: LEADER,
  insecure: true,
  channelCredentials: credentials.createInsecure(),
  certificateAuthority: undefined,
  user: undefined,
  connectionName: undefined,
  keepAlive: { intervalMs: defaultKeepAliveMs, timeoutMs: defaultKeepAliveMs },
  gossipTimeoutMs: defaultGossipTimeoutMs,
} as const

export const nameOf = ({ address, port }: EndPoint): string => `${address}:${port}`

const contentOf = (path: string | undefined): Buffer | null =>
  path === undefined ? null : readFileSync(path)
