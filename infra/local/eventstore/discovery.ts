import { randomUUID } from 'node:crypto'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { handleUnaryCall, ServiceDefinition } from '@grpc/grpc-js'

/** The EventStoreDB version that this store emulates. */
const serverVersion = '24.6.0'

/** Handles cluster discovery: there is one member, and it is the leader. */
export function gossipHandler(
  endpoint: Readonly<{ host: string; port: number }>,
): handleUnaryCall<shared.Empty, gossip.ClusterInfo> {
  const instanceId = new shared.UUID().setString(randomUUID())
  return (_call, respond) => {
    const { host, port } = endpoint
    const member = new gossip.MemberInfo()
      .setInstanceId(instanceId)
      .setTimeStamp(`${Date.now()}0000`)
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port))
    respond(null, new gossip.ClusterInfo().setMembersList([member]))
  }
}

/**
 * Handles the query for supported methods, which clients send once; they use `BatchAppend` only if it is
 * listed.
 */
export function supportedMethodsHandler(
  services: readonly ServiceDefinition[],
): handleUnaryCall<shared.Empty, features.SupportedMethods> {
  const methods = services.flatMap((service) =>
    Object.values(service).map(({ path }) => supportedMethod(path)),
  )
  const response = new features.SupportedMethods()
    .setEventStoreServerVersion(serverVersion)
    .setMethodsList(methods)
  return (_call, respond) => respond(null, response)
}

/** EventStoreDB lists `/service/Method` in lower case. */
function supportedMethod(path: string): features.SupportedMethod {
  const [, service = '', method = ''] = path.toLowerCase().split('/')
  return new features.SupportedMethod().setServiceName(service).setMethodName(method)
}
