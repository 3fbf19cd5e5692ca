// Binary frames of the live socket: 8 bytes of head, then bytes of output.bin. The head is one
// number, most significant byte first: 16 bits of channel, 48 bits of offset.
const HEAD_BYTES = 8;

export type Frame = {
  readonly channel: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
};

/** Undefined for what is no frame: it is passed over. */
export function readFrame(data: ArrayBuffer): Frame | undefined {
  if (data.byteLength < HEAD_BYTES) return undefined;
  const view = new DataView(data);
  return {
    channel: view.getUint16(0),
    offset: view.getUint16(2) * 2 ** 32 + view.getUint32(4),
    bytes: new Uint8Array(data, HEAD_BYTES),
  };
}
