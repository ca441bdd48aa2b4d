// wallet_page.js - a wallet in the page, as an extension puts it there: ethers behind EIP-1193, told of by
// EIP-6963. `walletFault` is what it does wrong: 'refuse', 'other' (signs with another key), 'unknown'
// (offers another address), 'old' (is window.ethereum alone).
import { Wallet } from 'ethers';

const own = new Wallet('0x' + '11'.repeat(32));
const other = new Wallet('0x' + '22'.repeat(32));
const fault = () => sessionStorage.getItem('walletFault');
window.walletCalls = [];
const provider = {
  async request({ method, params }) {
    window.walletCalls.push(method);
    if (fault() === 'refuse') throw { code: 4001, message: 'User rejected the request.' };
    if (method === 'eth_requestAccounts') return [fault() === 'unknown' ? other.address : own.address];
    if (method !== 'eth_signTypedData_v4') throw { code: 4200, message: `no ${method}` };
    const [address, text] = params;
    if (address !== own.address.toLowerCase() && fault() !== 'unknown') throw { code: -32602, message: `not my ${address}` };
    const { domain, message, types: { EIP712Domain, ...types } } = JSON.parse(text);
    window.walletShown = message;
    return (fault() === 'other' || fault() === 'unknown' ? other : own).signTypedData(domain, types, message);
  },
};
const announce = () => fault() !== 'old' && window.dispatchEvent(new CustomEvent('eip6963:announceProvider', {
  detail: Object.freeze({ info: { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test <b>wallet</b>', icon: '', rdns: 'example' }, provider }),
}));
window.addEventListener('eip6963:requestProvider', announce);
if (fault() === 'old') window.ethereum = provider;
else announce();
