/* What all need that make bytes to sign or show them, in one file of the bundle. */
import './byte_table';
import './latency';
import './metrics';
import './typed_data';
