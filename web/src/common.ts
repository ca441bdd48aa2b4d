/* What every part of the pages needs, in one file of the bundle: a part that imports it shares it with all others. */
import 'preact';
import 'preact/hooks';
import 'preact/jsx-runtime';
import './api';
import './clock';
import './decimal';
import './copy';
import './drawing';
import './fault';
import './json';
import './line_chart';
import './model';
import './pane';
import './settings';
