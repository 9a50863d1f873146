// Has to come before the library, which needs it when it is loaded.
import 'reflect-metadata';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { webcrypto } from 'node:crypto';

/** Returns a PKCS #10 request without a subject or an attribute, signed by the key: DER in base64. */
export const stubRequest = async (keys: webcrypto.CryptoKeyPair, algorithm: webcrypto.Algorithm): Promise<string> => {
  const request = await Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: algorithm }, webcrypto);
  return Buffer.from(request.rawData).toString('base64');
};
