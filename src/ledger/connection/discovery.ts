import { setTimeout } from 'node:timers/promises'
import { determineBestNode, type MemberInfo } from '@eventstore/db-client/dist/Client/discovery.js'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { Metadata } from '@grpc/grpc-js'
import { nameOf, type StoreAddress } from './address.ts'
import { ownConnections } from './node-client.ts'
import { LedgerUnavailable } from './unavailable.ts'

const retryPauseMs = 150

/**
 * Finds the node to connect to: the leader, unless the address prefers another. A node that does not answer is
 * skipped, even if the other nodes still list it as the leader.
 * @param limitMs time limit for the search
 * @throws LedgerUnavailable when no node was found in time
 */
export async function findNode(address: StoreAddress, limitMs: number): Promise<string> {
  const until = performance.now() + limitMs
  let failure: unknown
  for (;;) {
    try {
      return await Promise.any(address.seeds.map((seed) => nodeBy(seed, address)))
    } catch (error) {
      failure = error instanceof AggregateError ? error.errors[0] : error
    }
    if (performance.now() + retryPauseMs >= until) break
    await setTimeout(retryPauseMs)
  }
  throw new LedgerUnavailable('no node of the event store responds or accepts writes', failure, 'no_node')
}

/** The best node by a seed's member list, if that node answers. */
async function nodeBy(seed: string, address: StoreAddress): Promise<string> {
  const best = determineBestNode(address.preference, await membersBy(seed, address))
  if (!best) throw new Error(`${seed} knows no node that is ready`)
  const node = nameOf(best)
  if (node !== seed) await membersBy(node, address)
  return node
}

async function membersBy(target: string, address: StoreAddress): Promise<MemberInfo[]> {
  const client = new gossipGrpc.GossipClient(target, address.channelCredentials, ownConnections)
  try {
    const { promise, resolve, reject } = Promise.withResolvers<ClusterInfo>()
    const deadline = Date.now() + address.gossipTimeoutMs
    client.read(new shared.Empty(), new Metadata(), { deadline }, (error, info) =>
      error ? reject(error) : resolve(info),
    )
    return (await promise).getMembersList().map((member) => {
      const endpoint = member.getHttpEndPoint()
      return {
        timeStamp: Number(member.getTimeStamp()),
        state: member.getState(),
        isAlive: member.getIsAlive(),
        ...(endpoint && { httpEndpoint: { address: endpoint.getAddress(), port: endpoint.getPort() } }),
      }
    })
  } finally {
    client.close()
  }
}
