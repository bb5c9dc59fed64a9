/**
 * The headers with the id of a mail, which its sender gives back when it tells of a bounce. Some senders replace the
 * `Message-ID`, and each gives back something else:
 *
 * | sender     | gives back                                                      |
 * | ---------- | --------------------------------------------------------------- |
 * | Postmark   | `X-PM-Metadata-delivery`, as `Metadata.delivery`                |
 * | SendGrid   | the unique arguments in `X-SMTPAPI`, as fields of the event     |
 * | Mailgun    | `X-Mailgun-Variables`, as `user-variables`                      |
 * | Amazon SES | all headers, where its notifications include them               |
 * | Resend     | `X-Entity-Ref-ID` among `headers`                               |
 */
export const idHeaders = (deliveryId: string) => ({
  'X-Entity-Ref-ID': deliveryId,
  'X-PM-Metadata-delivery': deliveryId,
  'X-SMTPAPI': asIs({ unique_args: { delivery: deliveryId } }),
  'X-Mailgun-Variables': asIs({ delivery: deliveryId }),
})

/** JSON that is not encoded as other headers with quotes are: senders read it as it stands. */
const asIs = (value: object) => ({ prepared: true, value: JSON.stringify(value) })
