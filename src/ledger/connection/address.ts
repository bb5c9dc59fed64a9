import { readFileSync } from 'node:fs'
import { type Credentials, type EndPoint, LEADER, type NodePreference } from '@eventstore/db-client'
import { parseConnectionString } from '@eventstore/db-client/dist/Client/parseConnectionString.js'
import { type ChannelCredentials, credentials } from '@grpc/grpc-js'
import { underFirstName } from './schemes.ts'

/** The address of the event store and its connection options, parsed from a URL. */
export type StoreAddress = {
  /** The node to connect to; undefined when the seeds have to be asked for it. */
  target: string | undefined
  /** Nodes, or DNS names of several, that list the members of the cluster. */
  seeds: readonly string[]
  preference: NodePreference
  insecure: boolean
  channelCredentials: ChannelCredentials
  /** The trusted certificate authority; undefined to use Node's own list. */
  certificateAuthority: Buffer | undefined
  user: Credentials | undefined
  connectionName: string | undefined
  /** The connection is closed when a ping stays unanswered for both together; undefined: no pings. */
  keepAlive: { intervalMs: number; timeoutMs: number } | undefined
  gossipTimeoutMs: number
}

const defaultKeepAliveMs = 2000
const defaultGossipTimeoutMs = 1000

/**
 * Reads an address: `esdb://host:port?tls=false`, `esdb://host,host` or `esdb+discover://host,host` for a cluster, under each name of
 * the protocol, or `unix:<path>` for the embedded store.
 * @throws Error for an invalid address, or a certificate file that is missing
 */
export function parseAddress(url: string): StoreAddress {
  // The client's connection strings support only hosts and ports.
  if (url.startsWith('unix:')) return { ...plain, target: url, seeds: [] }
  const options = parseConnectionString(underFirstName(url))
  const nodes = options.hosts.map(nameOf)
  const isCluster = options.dnsDiscover || nodes.length > 1
  const insecure = options.tls === false
  const certificateAuthority = contentOf(options.tlsCAFile)
  const { keepAliveInterval = defaultKeepAliveMs, keepAliveTimeout = defaultKeepAliveMs } = options
  return {
    target: isCluster ? undefined : nodes[0],
    seeds: nodes,
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
