import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import type shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendReq, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js'
import protobuf from 'protobufjs/minimal.js'
import { bytes, number } from '../../infra/local/eventstore/wire/fields.ts'

/** Responses of an event store with users, which the embedded one does not have. */
export type Refusing = { reads?: 'unauthenticated' | 'denied' }

export type RefusingStore = { port: number; close(): void }

/** An empty log that refuses every append, and optionally reads; over TLS when it gets a certificate. */
export async function startRefusingStore(refusing: Refusing, tls?: Certificate): Promise<RefusingStore> {
  const server = new Server()
  const read: handleServerStreamingCall<ReadReq, ReadResp> = (call) => {
    if (refusing.reads) call.emit('error', refusals[refusing.reads])
    else call.end()
  }
  const batchAppend: handleBidiStreamingCall<BatchAppendReq, Uint8Array> = (call) => {
    call.on('data', (request: BatchAppendReq) => {
      call.write(accessDenied(request.getCorrelationId()?.getString() ?? ''))
    })
  }
  const supported: handleUnaryCall<shared.Empty, features.SupportedMethods> = (_, respond) =>
    respond(null, new features.SupportedMethods().setEventStoreServerVersion('24.6.0'))
  const { read: readMethod, batchAppend: batchAppendMethod } = streamsGrpc.StreamsService
  const methods = {
    read: readMethod,
    batchAppend: { ...batchAppendMethod, responseSerialize: (answer: Uint8Array) => Buffer.from(answer) },
  }
  server.addService(methods, { read, batchAppend })
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods: supported })
  const credentials = tls
    ? ServerCredentials.createSsl(null, [
        { cert_chain: readFileSync(tls.cert), private_key: readFileSync(tls.key) },
      ])
    : ServerCredentials.createInsecure()
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', credentials)
  return { port, close: () => server.forceShutdown() }
}

/** The messages of EventStoreDB. */
const refusals = {
  unauthenticated: { code: status.UNAUTHENTICATED, details: 'Unauthenticated', metadata: new Metadata() },
  denied: { code: status.PERMISSION_DENIED, details: 'Access Denied', metadata: exception('access-denied') },
}

function exception(name: string): Metadata {
  const metadata = new Metadata()
  metadata.set('exception', name)
  return metadata
}

/**
 * A `BatchAppendResp` that refuses one append. Serialized by hand, because the client library does not export the
 * class of its details, `google.protobuf.Any`.
 */
function accessDenied(correlationId: string): Uint8Array {
  const writer = protobuf.Writer.create()
  writer.uint32(bytes(1)).fork().uint32(bytes(2)).string(correlationId).ldelim()
  writer.uint32(bytes(2)).fork()
  writer.uint32(number(1)).int32(status.PERMISSION_DENIED)
  writer.uint32(bytes(2)).string('Access Denied')
  writer.uint32(bytes(3)).fork()
  writer.uint32(bytes(1)).string('type.googleapis.com/event_store.client.AccessDenied')
  writer.ldelim().ldelim()
  return writer.finish()
}

export type Certificate = { cert: string; key: string }

/** A self-signed certificate, which is its own authority. */
export function makeCertificate(directory: string, name: string): Certificate {
  const cert = join(directory, `${name}.crt`)
  const key = join(directory, `${name}.key`)
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-days', '2', '-out', cert, '-keyout', key, ...subject],
    { stdio: 'ignore' },
  )
  return { cert, key }
}
