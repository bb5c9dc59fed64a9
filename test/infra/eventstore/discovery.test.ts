// A client that discovers the cluster finds its one member and the supported methods.
import { NO_STREAM } from '@eventstore/db-client'
import grpcFeatures from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { credentials } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { collect, connect, numbered, uniqueStream } from './event-store.ts'

const { client, url } = await connect((url) => url.replace('esdb://', 'esdb+discover://'))

test('appends and reads through discovery', async () => {
  const stream = uniqueStream()
  await client.appendToStream(stream, numbered(0), { expectedRevision: NO_STREAM })
  expect(await collect(client.readStream(stream))).toHaveLength(1)
})

test('lists BatchAppend in lower case', async () => {
  const features = new grpcFeatures.ServerFeaturesClient(new URL(url).host, credentials.createInsecure())
  const supported = await new Promise<SupportedMethods>((resolve, reject) => {
    features.getSupportedMethods(new shared.Empty(), (error, methods) =>
      error ? reject(error) : resolve(methods),
    )
  })
  features.close()
  const methods = supported
    .getMethodsList()
    .map((method) => `${method.getServiceName()}/${method.getMethodName()}`)
  expect(methods).toContain('event_store.client.streams.streams/batchappend')
  expect(supported.getEventStoreServerVersion()).toMatch(/^\d+\.\d+/)
})
