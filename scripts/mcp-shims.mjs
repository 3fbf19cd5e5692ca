// Stands in for the part of the protocol's SDK that loads a JSON Schema validator of 300 kB: our
// server asks its clients for nothing that would have to be validated (see src/mcp/sdk.ts).
import process from 'node:process';

class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error('There is no validator in this build.');
  }
}

export { DefaultJsonSchemaValidator, process };
