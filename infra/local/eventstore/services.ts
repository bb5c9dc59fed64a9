import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'

/** These responses are encoded by hand before gRPC gets them. */
function encoded(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength)
}

export const streamsService = {
  ...streamsGrpc.StreamsService,
  read: { ...streamsGrpc.StreamsService.read, responseSerialize: encoded },
  batchAppend: { ...streamsGrpc.StreamsService.batchAppend, responseSerialize: encoded },
}

export const { GossipService: gossipService } = gossipGrpc
export const { ServerFeaturesService: serverFeaturesService } = featuresGrpc
